#include "text_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "io/target.h"
#include "io/temporaries.h"
#include "tessera/error.h"

namespace tessera::cli {
namespace {

[[noreturn]] void refuse(const std::string& path, int error) {
  throw Error(ErrorCode::kOutputFailure, fmt::format("{} could not be written: {}", path,
                                                     std::system_category().message(error)));
}

}  // namespace

void check_output_file(const std::string& path) {
  if (path.empty()) return;
  const io::Target target(path);
  const io::Temporary probe(target.directory_fd(), target.name(), path);
}

void write_text_file(const std::string& path, const std::string& text) {
  const io::Target target(path);
  io::Temporary file(target.directory_fd(), target.name(), path);
  if (target.mode()) ::fchmod(file.fd(), *target.mode());
  for (std::size_t done = 0; done < text.size();) {
    const ::ssize_t count = ::write(file.fd(), text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse(path, errno);
    done += static_cast<std::size_t>(count);
  }
  if (::fsync(file.fd()) != 0 && errno != EINVAL && errno != EROFS) refuse(path, errno);
  if (const int error = file.rename_to(target.name()); error != 0) refuse(path, error);
}

void write_json_file(const std::string& path, const Json& json) {
  write_text_file(path, json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
}

}  // namespace tessera::cli
