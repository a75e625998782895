#include "simt/source/diagnostics.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <vector>

#include "simt/source/columns.h"
#include "simt/source/libraries.h"

namespace tessera::simt {
namespace {

constexpr int kMostLines = 20;

struct Message {
  std::string file;
  int line = 0, column = 0;
  std::string text;  ///< "error: ...", "note: ..."
  bool is_error = false;
};

/// file:line:column: error: text
std::optional<Message> read_message(const std::string& line) {
  for (std::string_view kind : {": fatal error: ", ": error: ", ": note: "}) {
    const std::size_t at = line.find(kind);
    if (at == std::string::npos) continue;
    Message message;
    message.text = line.substr(at + 2);
    message.is_error = kind != ": note: ";
    const std::string place = line.substr(0, at);
    const std::size_t second = place.rfind(':');
    const std::size_t first = second == std::string::npos || second == 0
                                  ? std::string::npos
                                  : place.rfind(':', second - 1);
    const auto is_number = [](std::string_view text) {
      return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
    };
    if (first != std::string::npos && is_number(std::string_view(place).substr(second + 1)) &&
        is_number(std::string_view(place).substr(first + 1, second - first - 1))) {
      message.file = place.substr(0, first);
      message.line = std::stoi(place.substr(first + 1));
      message.column = std::stoi(place.substr(second + 1));
    } else {
      message.file = place;
    }
    return message;
  }
  return std::nullopt;
}

std::vector<Message> read_messages(const std::string& text) {
  std::vector<Message> messages;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (auto message = read_message(line)) messages.push_back(std::move(*message));
  }
  return messages;
}

/// Lines of the rewritten text, by the user's file and line.
class TranslatedLines {
 public:
  explicit TranslatedLines(const std::string& text) : text_(text) {}

  std::string_view line(const std::string& file, int wanted) const {
    std::string current;
    int number = 1;
    for (std::size_t at = 0; at < text_.size();) {
      std::size_t end = text_.find('\n', at);
      if (end == std::string::npos) end = text_.size();
      const std::string_view line = std::string_view(text_).substr(at, end - at);
      at = end + 1;
      if (line.starts_with("# ")) {
        number = std::atoi(line.data() + 2);
        const std::size_t open = line.find('"'), close = line.rfind('"');
        if (open != std::string_view::npos) current = line.substr(open + 1, close - open - 1);
        continue;
      }
      if (number == wanted && current == file && !line.empty()) return line;
      ++number;
    }
    return "";
  }

 private:
  const std::string& text_;
};

std::string without(std::string text, const std::string& part) {
  if (part.empty()) return text;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos;) {
    text.erase(at, part.size());
  }
  return text;
}

/// The executor's own files are of interest only by name.
bool is_own(const Message& message, const MessageContext& context) {
  return message.file.starts_with(context.folder) || message.file.starts_with("<") ||
         message.file.empty();
}

std::string describe(const Message& message, const MessageContext& context, SourceLines& lines) {
  std::string place = without(message.file, context.folder + "/");
  if (message.line == 0) return (place.empty() ? "" : place + ": ") + message.text + "\n";
  const std::string_view original = lines.line(message.file, message.line);
  int column = message.column;
  if (!context.translated.empty() && !is_own(message, context)) {
    const std::string_view rewritten =
        TranslatedLines(context.translated).line(message.file, message.line);
    column = original_column(rewritten, column, original);
  }
  place += ":" + std::to_string(message.line);
  if (column > 0) place += ":" + std::to_string(column);
  std::string text = place + ": " + without(message.text, context.folder + "/") + "\n";
  if (message.is_error && !original.empty() && !is_own(message, context)) {
    text += "  " + std::string(original) + "\n";
    if (column > 0) {
      std::string caret = "  ";
      for (char c : original.substr(0, static_cast<std::size_t>(column - 1))) {
        caret += c == '\t' ? '\t' : ' ';
      }
      text += caret + "^\n";
    }
  }
  return text;
}

}  // namespace

std::string readable_errors(const std::string& messages, const MessageContext& context) {
  const std::vector<Message> all = read_messages(messages);
  SourceLines lines;
  std::string text;
  bool in_own_error = false;
  for (const Message& message : all) {
    if (std::count(text.begin(), text.end(), '\n') >= kMostLines) break;
    if (message.file == "<kernels>") {
      // What is appended to the program breaks when a brace of the program is missing.
      if (message.is_error && message.text.find("expected '}'") != std::string::npos) {
        text += context.path + ": error: expected '}' at the end of the file\n";
      }
      continue;
    }
    const bool own = is_own(message, context);
    if (message.is_error) in_own_error = own;
    // Of an error within the executor's headers the notes tell which line of the user led there.
    if (own && !message.is_error) continue;
    if (!own && !message.is_error && !in_own_error && message.line == 0) continue;
    text += describe(message, context, lines);
  }
  if (text.empty()) text = without(messages.substr(0, 2000), context.folder + "/");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string readable_link_errors(const std::string& messages, const std::string& folder) {
  std::string text;
  std::istringstream in(messages);
  int count = 0;
  for (std::string line; std::getline(in, line) && count < kMostLines;) {
    if (line.starts_with("clang")) continue;  // that the linker failed
    text += (count++ == 0 ? "" : "\n") + without(line, folder + "/");
  }
  return text;
}

std::string missing_library_header(const std::string& messages) {
  for (const Message& message : read_messages(messages)) {
    const std::size_t quote = message.text.find('\'');
    if (message.text.find("file not found") == std::string::npos || quote == std::string::npos) {
      continue;
    }
    const std::string header =
        message.text.substr(quote + 1, message.text.find('\'', quote + 1) - quote - 1);
    if (!library_of_header(header).empty()) return header;
  }
  return "";
}

}  // namespace tessera::simt
