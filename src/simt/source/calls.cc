#include "simt/source/calls.h"

#include <map>
#include <set>

#include "simt/source/signatures.h"

namespace tessera::simt {
namespace {

constexpr std::size_t kMostTokens = 20'000;

using Names = std::map<std::string, std::string, std::less<>>;

class Writer {
 public:
  Writer(const Tokens& tokens, const Declarations& declarations) : tokens_(tokens) {
    for (const Function& function : declarations.functions) {
      const bool is_called = function.has_body && function.is_device && !function.in_class;
      if (is_called) functions_.emplace(tokens[function.name.first].text, &function);
    }
  }

  std::string write(const Function& function) {
    add(function, {});
    return std::move(text_);
  }

 private:
  struct Call {
    const Function* function = nullptr;
    Names names;  ///< what its parameters stand for
    std::vector<std::pair<std::string, std::string>> constants;
  };

  void add(const Function& function, const Names& names) {
    if (!done_.insert(&function).second) return;
    std::vector<Call> calls;
    for (std::size_t i = function.body.first; i < function.body.last; ++i) {
      if (++count_ > kMostTokens) return;
      word(named(names, i));
      if (auto call = call_at(i, names); call.function != nullptr) calls.push_back(std::move(call));
    }
    for (const Call& call : calls) {
      for (const auto& [name, value] : call.constants) {
        word("; const int " + name + " = " + value + " ;");
      }
      add(*call.function, call.names);
    }
  }

  void word(std::string_view text) {
    if (!text_.empty()) text_ += ' ';
    text_ += text;
  }

  /// A parameter's name becomes what it stands for, unless it is a member of something.
  std::string_view named(const Names& names, std::size_t i) const {
    const std::string_view text = tokens_[i].text;
    if (!tokens_.is_word(i) || (i > 0 && tokens_.is(i - 1, "."))) return text;
    const auto found = names.find(text);
    return found == names.end() ? text : std::string_view(found->second);
  }

  Call call_at(std::size_t i, const Names& names) const {
    Call call;
    const auto found = functions_.find(tokens_[i].text);
    if (!tokens_.is_word(i) || found == functions_.end()) return call;
    Range templates;
    std::size_t open = i + 1;
    if (tokens_.is(open, "<")) {
      const std::size_t behind = behind_angles(tokens_, open);
      if (behind == Tokens::npos) return call;
      templates = {open + 1, behind - 1};
      open = behind;
    }
    if (!tokens_.is(open, "(") || tokens_.partner[open] == Tokens::npos) return call;
    call.function = found->second;
    bind_parameters(call, {open + 1, tokens_.partner[open]}, names);
    bind_templates(call, templates, names);
    return call;
  }

  void bind_parameters(Call& call, Range range, const Names& names) const {
    const std::vector<Range> arguments = split_at_commas(tokens_, range);
    const std::vector<Parameter> parameters = read_parameters(tokens_, call.function->parameters);
    for (std::size_t i = 0; i < std::min(arguments.size(), parameters.size()); ++i) {
      const Range argument = arguments[i];
      if (argument.last != argument.first + 1 || !tokens_.is_word(argument.first)) continue;
      if (parameters[i].name.empty()) continue;
      call.names[parameters[i].name] = std::string(named(names, argument.first));
    }
  }

  void bind_templates(Call& call, Range range, const Names& names) const {
    if (call.function->templates.empty()) return;
    const std::vector<Range> arguments = split_at_commas(tokens_, range);
    const std::vector<Parameter> parameters =
        read_template_parameters(tokens_, call.function->templates.back());
    for (std::size_t i = 0; i < std::min(arguments.size(), parameters.size()); ++i) {
      if (parameters[i].name.empty() || parameters[i].type.starts_with("typename")) continue;
      std::string value;
      for (std::size_t t = arguments[i].first; t < arguments[i].last; ++t) {
        value += (value.empty() ? "" : " ") + std::string(named(names, t));
      }
      if (value == parameters[i].name) continue;  // it is a constant of that name already
      call.constants.emplace_back(parameters[i].name, value);
    }
  }

  const Tokens& tokens_;
  std::map<std::string_view, const Function*> functions_;
  std::set<const Function*> done_;
  std::string text_;
  std::size_t count_ = 0;
};

}  // namespace

std::string body_text(const Tokens& tokens, const Declarations& declarations,
                      const Function& function) {
  return Writer(tokens, declarations).write(function);
}

}  // namespace tessera::simt
