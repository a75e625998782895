#include "simt/gemm/driver.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <numeric>

#include "simt/gemm/body.h"
#include "simt/gemm/choice.h"
#include "simt/gemm/expression.h"
#include "simt/gemm/launch_rule.h"
#include "simt/gemm/types.h"
#include "tessera/error.h"

namespace tessera::simt {
namespace {

constexpr std::int64_t kMostBlocksYz = 65535;
// Sizes are usually int; a grid that only fails beyond them is no news.
constexpr std::int64_t kLargestSize = std::numeric_limits<std::int32_t>::max();

[[noreturn]] void refuse(const std::string& problem) {
  throw Error(ErrorCode::kInvalidArgument, "check: " + problem);
}

using Sizes = std::array<std::int64_t, 3>;  // M, N, K

std::optional<std::int64_t> size_named(const std::string& name, const Sizes& sizes) {
  if (name.size() != 1) return {};
  const auto at = std::string("MNK").find(name[0]);
  return at == std::string::npos ? std::optional<std::int64_t>() : sizes[at];
}

std::optional<std::int64_t> evaluate(const Expression& e, const Sizes& sizes) {
  return e.evaluate([&](const std::string& name) { return size_named(name, sizes); });
}

std::string code_of(const Expression& e) {
  return e.code([](const std::string& name) {
    return std::string("simt_x_->") +
           static_cast<char>(std::tolower(static_cast<unsigned char>(name[0]))) + "_";
  });
}

/// Text with its commas outside of brackets, as expressions of M, N and K.
std::vector<Expression> parse_list(const std::string& option, const std::string& text) {
  const auto wrong = [&](const std::string& rule) { refuse(option + " '" + text + "': " + rule); };
  std::vector<Expression> out;
  std::string word;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c != ',' || (depth > 0 && i < text.size())) {
      word += c;
      continue;
    }
    std::string why;
    const auto e = Expression::parse(word, &why);
    if (!e) {
      wrong((word == text ? "" : "in '" + word + "' ") + why +
            "; an expression has digits, M, N, K, + - * / ( ) and ceil");
    }
    for (const std::string& name : e->names()) {
      if (!size_named(name, {})) wrong("'" + name + "' is none of M, N, K");
    }
    out.push_back(*e);
    word.clear();
  }
  if (out.size() > 3) wrong("x, y and z are three");
  return out;
}

class Maker {
 public:
  Maker(const Translation& translation, const DriverOptions& options)
      : translation_(translation),
        options_(options),
        choice_(choose(translation, options.kernel)),
        parameters_(choice_.parameters(translation.aliases)),
        sizes_{options.m, options.n, options.k} {}

  Driver make() {
    out_.kernel = choice_.launched(false);
    out_.file = choice_.solve ? choice_.solve->file : choice_.kernel->file;
    out_.line = choice_.solve ? choice_.solve->line : choice_.kernel->line;
    out_.column_major = options_.column_major();
    out_.launches_itself = choice_.solve != nullptr;
    set_roles();
    out_.names = own_names(out_.roles, parameters_);
    check_sizes();
    if (choice_.solve) refuse_launch_options();
    const std::string call =
        choice_.solve ? "  solve(" + arguments() + ");\n" : launch() + "(" + arguments() + ");\n";
    out_.text =
        "\n#include <simt_drive.h>\nextern \"C\" void simt_drive(const SimtDrive* simt_x_) {\n" +
        call + "}\n";
    out_.grid_note = in_own_names(out_.grid_note, out_.names);
    if (choice_.solve) out_.how = "solve, which launches by itself";
    if (out_.column_major) out_.how += "; matrices are column-major";
    out_.how += how_end_;
    return out_;
  }

 private:
  void refuse_launch_options() const {
    for (const auto& [option, value] :
         {std::pair("--block", &options_.block), std::pair("--grid", &options_.grid),
          std::pair("--shared", &options_.shared)}) {
      if (!value->empty()) {
        refuse(std::string(option) + " '" + *value + "': solve launches by itself; name a kernel");
      }
    }
  }

  void set_roles() {
    if (!options_.roles.empty()) {
      out_.roles = parse_roles(options_.roles, parameters_);
      for (std::size_t i = 0; i < parameters_.size(); ++i) {
        if (out_.roles.roles[i] != Role::kConstant) continue;
        how_end_ += "; " + parameters_[i].name + " = " + out_.roles.constants[i];
      }
    } else {
      const Recognised recognised = recognise(parameters_);
      if (!recognised.roles) {
        refuse("kernel " + out_.kernel +
               ": its arguments are not plainly those of a product: " + recognised.problem +
               "; say which is which with --roles, one word a parameter, and name=NUMBER for one "
               "that is none of them");
      }
      out_.roles = *recognised.roles;
      swap_inner_if_used_so();
    }
    if (!choice_.kernel) return;
    body_ = read_body(choice_.kernel->body, body_names());
    out_.roles.c_is_read = out_.roles.c_is_read || body_.adds_to_c;
  }

  std::string name_of(Role role) const {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (out_.roles.roles[i] == role) return parameters_[i].name;
    }
    return "";
  }

  BodyNames body_names() const {
    BodyNames names{name_of(Role::kA),   name_of(Role::kB),      name_of(Role::kC),
                    name_of(Role::kM),   name_of(Role::kN),      name_of(Role::kK),
                    name_of(Role::kLdc), options_.column_major()};
    if (const std::string d = name_of(Role::kD); !d.empty()) names.c = d;
    if (const std::string square = name_of(Role::kSquare); !square.empty()) {
      names.m = names.n = names.k = square;
    }
    return names;
  }

  /// Some write A as M x N, B as N x K and C as M x K. The body tells: C has rows of K then, and A
  /// of N. Of `solve`, that of a kernel with parameters of the same names.
  void swap_inner_if_used_so() {
    const BodyNames names = body_names();
    for (const Signature& kernel : translation_.kernels) {
      if (choice_.kernel && &kernel != choice_.kernel) continue;
      const auto has = [&](const std::string& name) {
        return std::any_of(kernel.parameters.begin(), kernel.parameters.end(),
                           [&](const Parameter& p) { return p.name == name; });
      };
      if (!has(names.a) || !has(names.c) || !has(names.n) || !has(names.k)) continue;
      if (!read_body(kernel.body, names).inner_is_n) continue;
      for (Role& role : out_.roles.roles) {
        role = role == Role::kN ? Role::kK : role == Role::kK ? Role::kN : role;
      }
      how_end_ = "; its " + names.n + " is the inner size and its " + names.k +
                 " the columns of C, as its body uses them";
      return;
    }
  }

  void check_sizes() const {
    const auto [m, n, k] = sizes_;
    if (m < 0 || n < 0 || k < 0) {
      refuse("--gemm " + sizes_text() + ": a size is 0 or more");
    }
    if (!name_of(Role::kSquare).empty() && (m != n || m != k)) {
      refuse("--gemm " + sizes_text() + ": kernel " + out_.kernel + " has one size, " +
             name_of(Role::kSquare) + ", so all three are the same");
    }
  }

  std::string sizes_text() const {
    return std::to_string(sizes_[0]) + "," + std::to_string(sizes_[1]) + "," +
           std::to_string(sizes_[2]);
  }

  std::string arguments() const {
    std::string out;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const std::string& type = parameters_[i].type;
      if (i > 0) out += ", ";
      // A half has no cast from every type that a double has.
      const bool narrow =
          type.find("half") != std::string::npos || type.find("bfloat16") != std::string::npos;
      const Role role = out_.roles.roles[i];
      const bool scalar = role == Role::kAlpha || role == Role::kBeta;
      const bool constant = role == Role::kConstant;
      out += "(" + type + ")" + ((scalar || constant) && narrow ? "(float)" : "") +
             (constant ? "(" + out_.roles.constants[i] + ")" : "simt_x_->" + field(role));
    }
    return out;
  }

  static std::string field(Role role) {
    switch (role) {
      case Role::kA:
        return "a_";
      case Role::kB:
        return "b_";
      case Role::kC:
        return "c_";
      case Role::kD:
        return "d_";
      case Role::kM:
      case Role::kSquare:
        return "m_";
      case Role::kN:
        return "n_";
      case Role::kK:
        return "k_";
      case Role::kLda:
        return "lda_";
      case Role::kLdb:
        return "ldb_";
      case Role::kLdc:
        return "ldc_";
      case Role::kAlpha:
        return "alpha_";
      case Role::kBeta:
        return "beta_";
      case Role::kConstant:
        break;
    }
    return "";
  }

  std::string launch() {
    Values values = choice_.values(translation_.constants);
    // A constant of the body hides one of the file.
    for (const Constant& own : body_.constants) {
      Values scope = values;
      scope.erase(own.name);
      add_constants(scope, {own});
      const auto found = scope.find(own.name);
      if (found != scope.end()) values[own.name] = found->second;
    }
    LaunchRule rule = derive_launch(*choice_.kernel, body_, values);
    std::string given;
    if (!options_.block.empty()) {
      rule.block = parse_block();
      given = "block";
    }
    std::string grid_text;
    if (!options_.grid.empty()) {
      grid_text = options_.grid;
      given += given.empty() ? "grid" : " and grid";
    } else {
      for (const std::string& g : rule.grid) grid_text += (grid_text.empty() ? "" : ",") + g;
    }
    const std::vector<Expression> grid = parse_list("--grid", grid_text);
    check_grid(grid, grid_text);
    describe(rule, grid_text, given);
    out_.tile = common_tile(grid_text);
    note_limits(grid);
    return "  " + choice_.launched(true) + "<<<" + dim3_code(grid) + ", dim3(" +
           std::to_string(rule.block[0]) + ", " + std::to_string(rule.block[1]) + ", " +
           std::to_string(rule.block[2]) + "), " + shared_code() + ">>>";
  }

  std::array<std::int64_t, 3> parse_block() const {
    const std::vector<Expression> block = parse_list("--block", options_.block);
    std::array<std::int64_t, 3> out{1, 1, 1};
    for (std::size_t i = 0; i < block.size(); ++i) {
      const auto value = evaluate(block[i], sizes_);
      if (!block[i].names().empty() || !value || *value < 1 || *value > 65536) {
        refuse("--block '" + options_.block + "': each of x, y, z is a number from 1 to 65536");
      }
      out[i] = *value;
    }
    return out;
  }

  void check_grid(const std::vector<Expression>& grid, const std::string& text) const {
    for (const Expression& e : grid) {
      const auto value = evaluate(e, sizes_);
      // A grid of 0 is a launch that fails, which the executor reports.
      if (!value || *value < 0 || *value > std::numeric_limits<std::uint32_t>::max()) {
        refuse("--grid '" + text + "': " + e.text() +
               (value ? " is " + std::to_string(*value) + ", no number of blocks,"
                      : " has no value (a divisor is below 1, or it does not fit 64 bits)") +
               " at M,N,K = " + sizes_text());
      }
    }
  }

  /// Of "ceil(N/16),ceil(M/32)" 32.
  static std::int64_t common_tile(const std::string& grid) {
    std::int64_t tile = 0;
    for (std::size_t at = 0; (at = grid.find('/', at)) != std::string::npos; ++at) {
      std::size_t first = at + 1;
      while (first < grid.size() && grid[first] == ' ') ++first;
      std::int64_t divisor = 0;
      for (; first < grid.size() && std::isdigit(static_cast<unsigned char>(grid[first])) != 0 &&
             divisor < 100'000;
           ++first) {
        divisor = divisor * 10 + (grid[first] - '0');
      }
      if (divisor > 0) tile = tile == 0 ? divisor : std::lcm(tile, divisor);
    }
    return tile;
  }

  static std::string dim3_code(const std::vector<Expression>& grid) {
    std::string out = "dim3(";
    for (std::size_t i = 0; i < 3; ++i) {
      out += (i ? ", " : "") + std::string("(unsigned)") +
             (i < grid.size() ? "(" + code_of(grid[i]) + ")" : "1");
    }
    return out + ")";
  }

  std::string shared_code() const {
    if (options_.shared.empty()) {
      if (body_.uses_dynamic_shared) {
        refuse("kernel " + out_.kernel +
               " has an extern __shared__ array: say its size with --shared BYTES");
      }
      return "0";
    }
    const std::vector<Expression> bytes = parse_list("--shared", options_.shared);
    const auto value = evaluate(bytes[0], sizes_);
    if (bytes.size() != 1 || !value || *value < 0) {
      refuse("--shared '" + options_.shared + "': it is a number of bytes, 0 or more");
    }
    return "(size_t)(" + code_of(bytes[0]) + ")";
  }

  void describe(const LaunchRule& rule, const std::string& grid, const std::string& given) {
    std::string block = std::to_string(rule.block[0]);
    for (std::size_t i = 1; i < 3; ++i) {
      const bool more = rule.block[i] > 1 || (i == 1 && rule.block[2] > 1);
      if (more) block += "," + std::to_string(rule.block[i]);
    }
    std::string spaced;
    for (char c : grid) {
      if (c != ' ') spaced += c == ',' ? std::string(", ") : std::string(1, c);
    }
    out_.how = "block (" + block + "), grid (" + spaced + ")";
    if (!given.empty()) out_.how += ", " + given + " as given";
    if (given != "block and grid") out_.how += ", derived from " + rule.from;
    if (choice_.arguments_are_usual) out_.how += "; template arguments as usual";
  }

  void note(const std::string& text) {
    out_.grid_note += (out_.grid_note.empty() ? "" : "; ") + text;
  }

  /// Where the launch fails: at these sizes, or where grid.y or grid.z passes its limit, the other
  /// sizes as asked for.
  void note_limits(const std::vector<Expression>& grid) {
    for (std::size_t axis = 0; axis < grid.size(); ++axis) {
      if (evaluate(grid[axis], sizes_).value_or(1) != 0) continue;
      note(std::string("grid.") + "xyz"[axis] + " = " + grid[axis].text() +
           " is 0 at M,N,K = " + sizes_text() + ": such a launch fails");
    }
    for (std::size_t axis = 1; axis < grid.size(); ++axis) {
      for (std::size_t s = 0; s < 3; ++s) {
        const std::string letter(1, "MNK"[s]);
        const std::vector<std::string> names = grid[axis].names();
        if (std::find(names.begin(), names.end(), letter) == names.end()) continue;
        const std::int64_t most = largest_that_fits(grid[axis], s);
        if (most < 0 || most >= kLargestSize) continue;
        note(std::string("grid.") + "xyz"[axis] + " = " + grid[axis].text() +
             ": a launch fails beyond " + letter + " = " + std::to_string(most));
      }
    }
  }

  /// Launch rules grow with their sizes, so bisection finds the last that fits; -1: none does.
  std::int64_t largest_that_fits(const Expression& e, std::size_t s) const {
    const auto fits = [&](std::int64_t size) {
      Sizes sizes = sizes_;
      sizes[s] = size;
      const auto value = evaluate(e, sizes);
      return value && *value <= kMostBlocksYz;
    };
    if (!fits(0)) return -1;
    std::int64_t low = 0, high = kLargestSize;
    if (fits(high)) return high;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (fits(middle) ? low : high) = middle;
    }
    return low;
  }

  const Translation& translation_;
  const DriverOptions& options_;
  Choice choice_;
  std::vector<Parameter> parameters_;
  Sizes sizes_;
  BodyFacts body_;
  std::string how_end_;
  Driver out_;
};

}  // namespace

Driver make_driver(const Translation& translation, const DriverOptions& options) {
  return Maker(translation, options).make();
}

}  // namespace tessera::simt
