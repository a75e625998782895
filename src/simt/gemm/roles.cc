#include "simt/gemm/roles.h"

#include <algorithm>

#include "simt/gemm/names.h"
#include "simt/gemm/types.h"

namespace tessera::simt {
namespace {

using Indices = std::vector<std::size_t>;

/// Works on one list of parameters; `problem` ends the work.
class Recogniser {
 public:
  explicit Recogniser(const std::vector<Parameter>& parameters) : parameters_(parameters) {
    for (const Parameter& p : parameters) {
      types_.push_back(type_of(p.type));
      plain_.push_back(plain_name(p.name));
    }
    roles_.roles.resize(parameters.size());
  }

  Recognised run() {
    const bool done = sort() && name_pointers() && name_numbers() && check_elements();
    if (done) return {roles_, ""};
    return {{}, listed(parameters_) + ": " + problem_};
  }

 private:
  bool fail(const std::string& problem) {
    problem_ = problem;
    return false;
  }
  const std::string& name(std::size_t i) const { return parameters_[i].name; }

  bool sort() {
    for (std::size_t i = 0; i < types_.size(); ++i) {
      if (types_[i].kind == TypeKind::kPointer) {
        pointers_.push_back(i);
      } else if (types_[i].kind == TypeKind::kOther) {
        return fail("'" + parameters_[i].type + " " + name(i) +
                    "' is neither a pointer to numbers nor a number");
      } else {
        numbers_.push_back(i);
      }
    }
    if (pointers_.size() == 3 || pointers_.size() == 4) return true;
    return fail(std::to_string(pointers_.size()) +
                " pointers, where a matrix product has A, B and C");
  }

  Indices writable() const {
    Indices out;
    std::copy_if(pointers_.begin(), pointers_.end(), std::back_inserter(out),
                 [&](std::size_t i) { return !types_[i].is_const; });
    return out;
  }

  /// M, N and P of the textbook, when pointers.
  bool is_textbook() const {
    const auto is = [&](std::size_t i, char letter) {
      const std::string& plain = plain_[pointers_[i]];
      return plain == std::string(1, letter) || plain == std::string(1, letter) + "d" ||
             plain == std::string("d") + letter;
    };
    return pointers_.size() == 3 && is(0, 'm') && is(1, 'n') && is(2, 'p');
  }

  bool name_pointers() {
    std::vector<std::optional<Role>> roles(types_.size());
    for (std::size_t i : pointers_) roles[i] = pointer_role(plain_[i]);
    if (is_textbook()) {
      for (int i = 0; i < 3; ++i) {
        roles[pointers_[static_cast<std::size_t>(i)]] = static_cast<Role>(i);
      }
    }
    const Indices outputs = writable();
    if (outputs.empty()) return fail("every pointer is to const, so nothing can be written");
    if (pointers_.size() == 3 && outputs.size() == 1) roles[outputs[0]] = Role::kC;
    if (!complete(roles)) return false;
    for (std::size_t i : pointers_) {
      // A fourth pointer is the output only if C cannot be.
      if (roles[i] == Role::kD && !pointer_role(plain_[i]) && outputs.size() > 1) {
        return fail("which of C and '" + name(i) + "' is the output is not clear");
      }
      roles_.roles[i] = *roles[i];
    }
    const Role output = pointers_.size() == 4 ? Role::kD : Role::kC;
    for (std::size_t i : pointers_) {
      if (roles_.roles[i] == output && types_[i].is_const) {
        return fail("'" + name(i) + "' would be the output, but it points to const");
      }
    }
    roles_.c_is_read = pointers_.size() == 4;
    return true;
  }

  /// Every part taken once; the only nameless pointer takes the only free part.
  bool complete(std::vector<std::optional<Role>>& roles) {
    std::vector<Role> free = {Role::kA, Role::kB, Role::kC};
    if (pointers_.size() == 4) free.push_back(Role::kD);
    Indices nameless;
    for (std::size_t i : pointers_) {
      if (!roles[i]) {
        nameless.push_back(i);
        continue;
      }
      const auto found = std::find(free.begin(), free.end(), *roles[i]);
      if (found == free.end()) {
        return fail("'" + name(i) + "' would be " + word_of(*roles[i]) +
                    (pointers_.size() == 3 && *roles[i] == Role::kD ? ", an output beside C"
                                                                    : ", as another is"));
      }
      free.erase(found);
    }
    if (nameless.size() == 1) roles[nameless[0]] = free[0];
    if (nameless.size() < 2) return true;
    return fail("which of '" + name(nameless[0]) + "' and '" + name(nameless[1]) + "' is " +
                word_of(free[0]) + " is not clear from their names");
  }

  bool name_numbers() {
    Indices sizes;
    for (std::size_t i : numbers_) {
      const std::optional<Role> role = number_role(plain_[i]);
      if (role == Role::kAlpha || role == Role::kBeta) {
        roles_.roles[i] = *role;
        roles_.c_is_read = roles_.c_is_read || role == Role::kBeta;
      } else if (types_[i].kind == TypeKind::kReal) {
        return fail("'" + parameters_[i].type + " " + name(i) + "' is neither alpha nor beta");
      } else {
        sizes.push_back(i);
      }
    }
    if (sizes.size() == 1) return name_only_size(sizes[0]);
    bool has_m_or_n = false, has_depth = false;
    for (std::size_t i : sizes) {
      const std::optional<Role> role = number_role(plain_[i]);
      if (!role || role == Role::kSquare) {
        return fail("'" + parameters_[i].type + " " + name(i) + "' could be any of the sizes");
      }
      roles_.roles[i] = *role;
      has_m_or_n = has_m_or_n || role == Role::kM || role == Role::kN;
      has_depth = has_depth || role == Role::kK || role == Role::kLda;
    }
    if (has_m_or_n && !has_depth) return fail("no parameter gives K");
    return check_repeats(sizes);
  }

  bool name_only_size(std::size_t i) {
    const std::optional<Role> role = number_role(plain_[i]);
    const std::string& plain = plain_[i];
    const bool letter = plain == "m" || plain == "n" || plain == "k";
    if (!role && plain.size() > 1) {
      return fail("'" + parameters_[i].type + " " + name(i) + "' could be any of the sizes");
    }
    roles_.roles[i] = !role || letter ? Role::kSquare : *role;
    return true;
  }

  /// A size may be given twice (numARows and numCRows), but not by one name in two spellings.
  bool check_repeats(const Indices& sizes) {
    for (std::size_t i : sizes) {
      for (std::size_t j : sizes) {
        if (i < j && plain_[i] == plain_[j]) {
          return fail("'" + name(i) + "' and '" + name(j) + "' would both be " +
                      word_of(roles_.roles[i]));
        }
      }
    }
    return true;
  }

  bool check_elements() {
    for (std::size_t i : pointers_) {
      if (types_[i].element.empty()) {
        return fail("'" + parameters_[i].type + " " + name(i) +
                    "': elements are float, double, half, bfloat16 or int");
      }
    }
    const auto element = [&](Role role) {
      for (std::size_t i : pointers_) {
        if (roles_.roles[i] == role) return types_[i].element;
      }
      return std::string();
    };
    roles_.element = element(Role::kA);
    roles_.element_c = element(Role::kC);
    if (element(Role::kB) != roles_.element) {
      return fail("A is of " + roles_.element + " and B of " + element(Role::kB));
    }
    const std::string d = element(Role::kD);
    if (!d.empty() && d != roles_.element_c) {
      return fail("C is of " + roles_.element_c + " and D of " + d);
    }
    return true;
  }

  const std::vector<Parameter>& parameters_;
  std::vector<ParameterType> types_;
  std::vector<std::string> plain_;
  Indices pointers_, numbers_;
  Roles roles_;
  std::string problem_;
};

}  // namespace

Recognised recognise(const std::vector<Parameter>& parameters) {
  return Recogniser(parameters).run();
}

}  // namespace tessera::simt
