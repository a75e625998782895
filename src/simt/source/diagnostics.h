// A compiler's messages, as a user of the checker should see them.
#pragma once

#include <string>

namespace tessera::simt {

struct MessageContext {
  std::string folder;      ///< the temporary one; its paths are left out
  std::string translated;  ///< the text that was compiled; empty: the user's own files were
  std::string path;        ///< of the program
};

/// The first errors with their notes, the columns as in the user's files, and the lines they mean;
/// about 20 lines.
std::string readable_errors(const std::string& messages, const MessageContext& context);

/// A linker's messages, without the folder's paths; about 20 lines.
std::string readable_link_errors(const std::string& messages, const std::string& folder);

/// The header of a known library that is missing, as the program names it; else empty.
std::string missing_library_header(const std::string& messages);

}  // namespace tessera::simt
