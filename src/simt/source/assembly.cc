#include "simt/source/assembly.h"

#include <algorithm>
#include <map>
#include <optional>

namespace tessera::simt {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\n\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// Splits at a character outside brackets and braces.
std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  for (char c : text) {
    if (c == '[' || c == '{' || c == '(') ++depth;
    if (c == ']' || c == '}' || c == ')') --depth;
    if (c == separator && depth <= 0) {
      parts.emplace_back(trimmed(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (!trimmed(part).empty()) parts.emplace_back(trimmed(part));
  return parts;
}

/// One instruction: its name, and what stands behind it.
struct Instruction {
  std::string predicate;  ///< "p", "!p", or empty
  std::string name;
  std::vector<std::string> arguments;
};

/// The C++ type of a PTX type.
std::string c_type(std::string_view type) {
  static const std::map<std::string_view, std::string> kTypes = {
      {"f32", "float"},        {"f64", "double"},
      {"u8", "unsigned char"}, {"s8", "signed char"},
      {"b8", "unsigned char"}, {"u16", "unsigned short"},
      {"s16", "short"},        {"b16", "unsigned short"},
      {"u32", "unsigned"},     {"s32", "int"},
      {"b32", "unsigned"},     {"u64", "unsigned long long"},
      {"s64", "long long"},    {"b64", "unsigned long long"},
      {"pred", "bool"}};
  const auto found = kTypes.find(type);
  return found == kTypes.end() ? "" : found->second;
}

const std::map<std::string_view, std::string>& special_registers() {
  static const std::map<std::string_view, std::string> kRegisters = {
      {"laneid", "::simt_lane()"},       {"tid.x", "threadIdx.x"},
      {"tid.y", "threadIdx.y"},          {"tid.z", "threadIdx.z"},
      {"ctaid.x", "blockIdx.x"},         {"ctaid.y", "blockIdx.y"},
      {"ctaid.z", "blockIdx.z"},         {"ntid.x", "::simt_block_dim.x"},
      {"ntid.y", "::simt_block_dim.y"},  {"ntid.z", "::simt_block_dim.z"},
      {"nctaid.x", "::simt_grid_dim.x"}, {"nctaid.y", "::simt_grid_dim.y"},
      {"nctaid.z", "::simt_grid_dim.z"}};
  return kRegisters;
}

class Translator {
 public:
  explicit Translator(const std::vector<std::string>& operands) : operands_(operands) {}

  Assembly translate(std::string_view code) {
    std::string text;
    for (const std::string& statement : statements(code)) {
      const auto translated = translate_statement(statement);
      if (!translated) return {"", name_of(statement)};
      text += *translated;
    }
    return {text.empty() ? "(void)0;" : text, ""};
  }

 private:
  /// Statements end with semicolons; braces around them only limit their registers.
  static std::vector<std::string> statements(std::string_view code) {
    std::string flat =
        replaced(replaced(replaced(std::string(code), "\\n", " "), "\\t", " "), "%%", "%");
    std::string_view rest = trimmed(flat);
    while (rest.starts_with("{") && rest.ends_with("}")) {
      rest = trimmed(rest.substr(1, rest.size() - 2));
    }
    return split(rest, ';');
  }

  static Instruction read(std::string_view statement) {
    Instruction instruction;
    if (statement.starts_with("@")) {
      const std::size_t end = statement.find_first_of(" \t\n");
      if (end == std::string_view::npos) return instruction;
      instruction.predicate = statement.substr(1, end - 1);
      statement = trimmed(statement.substr(end));
    }
    const std::size_t end = std::min(statement.find_first_of(" \t\n["), statement.size());
    instruction.name = replaced(std::string(statement.substr(0, end)), "::cta", "");
    instruction.arguments = split(statement.substr(end), ',');
    return instruction;
  }

  static std::string name_of(std::string_view statement) {
    const std::string name = read(statement).name;
    return name.empty() ? std::string(statement) : name;
  }

  std::optional<std::string> translate_statement(const std::string& statement) {
    if (statement.starts_with(".reg")) return registers(statement);
    const Instruction instruction = read(statement);
    const auto text = translate_instruction(instruction);
    if (!text || instruction.predicate.empty()) return text;
    const bool is_negated = instruction.predicate.starts_with("!");
    const auto predicate = value(instruction.predicate.substr(is_negated ? 1 : 0));
    if (!predicate) return std::nullopt;
    return "if (" + std::string(is_negated ? "!" : "") + "(" + *predicate + ")) { " + *text + " } ";
  }

  /// .reg .pred p, q
  std::optional<std::string> registers(const std::string& statement) {
    const std::size_t dot = statement.find('.', 1);
    if (dot == std::string::npos) return std::nullopt;
    const std::size_t end = statement.find_first_of(" \t", dot);
    if (end == std::string::npos) return std::nullopt;
    const std::string type = c_type(statement.substr(dot + 1, end - dot - 1));
    if (type.empty()) return std::nullopt;
    std::string text;
    for (const std::string& name : split(std::string_view(statement).substr(end), ',')) {
      const std::string variable = "simt_r" + std::to_string(registers_.size());
      registers_[name] = variable;
      text += type + " " + variable + "; ";
    }
    return text;
  }

  /// An operand, a declared register, a special register or a number, as an expression.
  std::optional<std::string> value(std::string_view word) const {
    word = trimmed(word);
    if (word.empty()) return std::nullopt;
    if (const auto found = registers_.find(std::string(word)); found != registers_.end()) {
      return found->second;
    }
    if (word[0] == '%') {
      const std::string_view name = word.substr(1);
      const auto special = special_registers().find(name);
      if (special != special_registers().end()) return special->second;
      if (name.empty() || name.find_first_not_of("0123456789") != std::string_view::npos) {
        return std::nullopt;
      }
      const std::size_t index = std::stoul(std::string(name.substr(0, 3)));
      if (index >= operands_.size()) return std::nullopt;
      return "(" + operands_[index] + ")";
    }
    const bool is_number =
        word.find_first_not_of("-0123456789xXabcdefABCDEFU") == std::string_view::npos &&
        (word[0] == '-' || (word[0] >= '0' && word[0] <= '9'));
    return is_number ? std::optional(std::string(word)) : std::nullopt;
  }

  /// [%0], [%0 + 16] or [%0+%1]: an address as an integer.
  std::optional<std::string> address(std::string_view word) const {
    word = trimmed(word);
    if (!word.starts_with("[") || !word.ends_with("]")) return std::nullopt;
    std::string sum;
    for (const std::string& part : split(word.substr(1, word.size() - 2), '+')) {
      const auto term = value(part);
      if (!term) return std::nullopt;
      sum += (sum.empty() ? "" : " + ") + std::string("(unsigned long)") + *term;
    }
    return sum.empty() ? std::nullopt : std::optional("(" + sum + ")");
  }

  static bool has(const std::string& name, std::string_view part) {
    return name.find(part) != std::string::npos;
  }
  static bool begins(const std::string& name, std::string_view part) {
    return name.starts_with(part);
  }

  std::optional<std::string> translate_instruction(const Instruction& one) const {
    const std::string& name = one.name;
    if (begins(name, "cp.async.ca.shared.global") || begins(name, "cp.async.cg.shared.global")) {
      return copy_async(one);
    }
    if (name == "cp.async.commit_group") return "::simt_copy_commit(); ";
    if (name == "cp.async.wait_all") return "::simt_copy_commit(); ::simt_copy_wait(0); ";
    if (name == "cp.async.wait_group") return with_values(one, 1, "::simt_copy_wait($0); ");
    if (name == "bar.sync" || name == "barrier.sync" || name == "barrier.sync.aligned" ||
        name == "bar.sync.aligned") {
      const bool is_whole_block = one.arguments.size() == 1 && one.arguments[0] == "0";
      return is_whole_block ? std::optional<std::string>("::simt_barrier(); ") : std::nullopt;
    }
    if (begins(name, "membar.") || begins(name, "fence.acq_rel") || begins(name, "fence.sc")) {
      const int scope = has(name, ".cta") ? 0 : has(name, ".sys") ? 2 : 1;
      if (has(name, "cluster")) return std::nullopt;
      return "::simt_fence(" + std::to_string(scope) + "); ";
    }
    if (begins(name, "prefetch")) return "";
    if (name == "setp.ne.b32" || name == "setp.ne.u32" || name == "setp.ne.s32") {
      return with_values(one, 3, "$0 = $1 != $2; ");
    }
    if (name == "fma.rn.f32") return with_values(one, 4, "$0 = __builtin_fmaf($1, $2, $3); ");
    if (name == "fma.rn.f64") return with_values(one, 4, "$0 = __builtin_fma($1, $2, $3); ");
    if (begins(name, "mov.") && !c_type(name.substr(4)).empty()) {
      return with_values(one, 2, "$0 = $1; ");
    }
    if (name == "cvta.to.shared.u64") {
      return with_values(one, 2, "$0 = ::simt_shared_offset((const void*)$1); ");
    }
    if (name == "cvta.shared.u64") {
      return with_values(one, 2, "$0 = (unsigned long)::simt_shared_pointer($1); ");
    }
    if (name == "cvta.to.global.u64" || name == "cvta.global.u64") {
      return with_values(one, 2, "$0 = (decltype($0 + 0))$1; ");
    }
    if (name == "cvt.u32.u64") return with_values(one, 2, "$0 = (unsigned)$1; ");
    if (name == "cvt.u64.u32") return with_values(one, 2, "$0 = $1; ");
    if (begins(name, "ld.") || begins(name, "st.")) return move(one);
    return std::nullopt;
  }

  /// A pattern with $0 ... for the arguments; nothing when their number or form is another.
  std::optional<std::string> with_values(const Instruction& one, std::size_t count,
                                         std::string pattern) const {
    if (one.arguments.size() != count) return std::nullopt;
    for (std::size_t i = 0; i < count; ++i) {
      const auto argument = value(one.arguments[i]);
      if (!argument) return std::nullopt;
      pattern = replaced(pattern, "$" + std::to_string(i), *argument);
    }
    return pattern;
  }

  std::optional<std::string> copy_async(const Instruction& one) const {
    std::size_t count = one.arguments.size();
    if (has(one.name, "L2::cache_hint") && count > 0) --count;  // a policy, which moves no data
    if (count != 3 && count != 4) return std::nullopt;
    const auto to = address(one.arguments[0]), from = address(one.arguments[1]);
    const auto bytes = value(one.arguments[2]);
    const auto source_bytes = count == 4 ? value(one.arguments[3]) : bytes;
    if (!to || !from || !bytes || !source_bytes) return std::nullopt;
    return "::simt_copy_async(::simt_shared_pointer(" + *to + "), (const void*)" + *from + ", " +
           *bytes + ", " + *source_bytes + "); ";
  }

  /// ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4] and st.shared.f32 [%0], %1
  std::optional<std::string> move(const Instruction& one) const {
    if (one.arguments.size() != 2) return std::nullopt;
    const bool is_load = begins(one.name, "ld.");
    const std::string type = c_type(one.name.substr(one.name.rfind('.') + 1));
    const int count = has(one.name, ".v4.") ? 4 : has(one.name, ".v2.") ? 2 : 1;
    const bool is_shared = has(one.name, ".shared");
    const bool is_other = has(one.name, ".param") || has(one.name, ".local") ||
                          has(one.name, ".const") || has(one.name, ".acquire") ||
                          has(one.name, ".release") || has(one.name, "cluster");
    const auto place = address(one.arguments[is_load ? 1 : 0]);
    if (type.empty() || is_other || !place) return std::nullopt;
    std::string_view list = trimmed(one.arguments[is_load ? 0 : 1]);
    if (list.starts_with("{") && list.ends_with("}")) list = list.substr(1, list.size() - 2);
    const std::vector<std::string> names = split(list, ',');
    if (names.size() != static_cast<std::size_t>(count)) return std::nullopt;

    const std::string vector = "::simt::vector<" + type + ", " + std::to_string(count) + ">";
    const std::string pointer =
        is_shared ? "::simt_shared_pointer(" + *place + ")" : "(void*)" + *place;
    const std::string target = "*(" + vector + "*)" + pointer;
    std::string text = "{ " + vector + " simt_v" + (is_load ? " = " + target : "") + "; ";
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto name = value(names[i]);
      if (!name) return std::nullopt;
      const std::string part = count == 1 ? "simt_v" : "simt_v[" + std::to_string(i) + "]";
      text += is_load ? *name + " = " + part + "; " : part + " = " + *name + "; ";
    }
    return text + (is_load ? "" : target + " = simt_v; ") + "} ";
  }

  const std::vector<std::string>& operands_;
  std::map<std::string, std::string> registers_;
};

}  // namespace

Assembly translate_assembly(std::string_view code, const std::vector<std::string>& operands) {
  return Translator(operands).translate(code);
}

}  // namespace tessera::simt
