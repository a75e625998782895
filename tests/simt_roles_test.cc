// Which parameter is which, by the names that kernels use.
#include "simt/gemm/roles.h"

#include "simt_gemm_support.h"

namespace tessera::simt {
namespace {

using test::error_of;

const char* letter(Role role) {
  constexpr const char* kWords[] = {"A",   "B",   "C",   "D",     "M",    "N",     "K",
                                    "lda", "ldb", "ldc", "alpha", "beta", "square"};
  return kWords[static_cast<int>(role)];
}

std::string said(const std::vector<Role>& roles) {
  std::string out;
  for (Role role : roles) out += (out.empty() ? "" : ",") + std::string(letter(role));
  return out;
}

std::string roles_of(const std::string& text) {
  const Recognised r = recognise(parameters(text));
  EXPECT_EQ(r.roles.has_value(), r.problem.empty());
  return r.roles ? said(r.roles->roles) : r.problem;
}

struct Usual {
  const char* parameters;
  const char* roles;
};

constexpr Usual kUsual[] = {
    {"const float* A, const float* B, float* C, int M, int N, int K", "A,B,C,M,N,K"},
    {"const float* A, const float* B, float* C, int M, int K, int N", "A,B,C,M,K,N"},
    {"int m, int n, int k, const float* a, const float* b, float* c", "M,N,K,A,B,C"},
    {"float* M, float* N, float* P, int Width", "A,B,C,square"},
    {"float* Md, float* Nd, float* Pd, int Width", "A,B,C,square"},
    {"const float* d_M, const float* d_N, float* d_P, int width", "A,B,C,square"},
    {"float* C, float* A, float* B, int wA, int wB", "C,A,B,K,N"},
    {"float* A, float* B, float* C, int hA, int wA, int wB", "A,B,C,M,K,N"},
    {"float* A, float* B, float* C, int hA, int wA, int hB, int wB", "A,B,C,M,K,K,N"},
    {"float* A, float* B, float* C, int numARows, int numAColumns, int numBRows, int numBColumns, "
     "int numCRows, int numCColumns",
     "A,B,C,M,K,K,N,M,N"},
    {"float* A, float* B, float* C, int rowsA, int colsA, int colsB", "A,B,C,M,K,N"},
    {"const double* d_A, const double* d_B, double* d_C, size_t n", "A,B,C,square"},
    {"const float* A_d, const float* B_d, float* C_d, unsigned int N", "A,B,C,square"},
    {"const half* dev_a, const half* dev_b, float* dev_c, int M, int N, int K", "A,B,C,M,N,K"},
    {"const __nv_bfloat16* a_ptr, const __nv_bfloat16* b_ptr, __nv_bfloat16* c_ptr, int M, int N, "
     "int K",
     "A,B,C,M,N,K"},
    {"const int* a, const int* b, int* c, int size", "A,B,C,square"},
    {"const float4* lhs, const float4* rhs, float* out, int m, int n, int k", "A,B,C,M,N,K"},
    {"int M, int N, int K, float alpha, const float* A, const float* B, float beta, float* C",
     "M,N,K,alpha,A,B,beta,C"},
    {"int M, int N, int K, float alpha, const float* A, int lda, const float* B, int ldb, "
     "float beta, float* C, int ldc",
     "M,N,K,alpha,A,lda,B,ldb,beta,C,ldc"},
    {"const float* A, const float* B, float* C, int M, int N, int K, int stride_a, int strideB, "
     "int c_stride",
     "A,B,C,M,N,K,lda,ldb,ldc"},
    {"const float* A, const float* B, const float* C, float* D, int M, int N, int K",
     "A,B,C,D,M,N,K"},
    {"const float* A, const float* B, float* banana, int n", "A,B,C,square"},
    {"const float* A, const float* weird, float* C, int n", "A,B,C,square"},
    {"const float* x, const float* w, float* y, int rows, int cols, int inner", "A,B,C,M,N,K"},
    {"const float* input1, const float* input2, float* output, int n", "A,B,C,square"},
    {"const float* A, const float* B, float* C", "A,B,C"},
    {"const float* A, const float* B, float* C, int k", "A,B,C,square"},
};

TEST(Recognise, UsualNames) {
  for (const Usual& usual : kUsual) EXPECT_EQ(roles_of(usual.parameters), usual.roles);
}

TEST(Recognise, CaseAndUnderscoresDoNotMatter) {
  EXPECT_EQ(roles_of("const float* MAT_A, const float* mat_b, float* matC, int num_a_rows, "
                     "int NUM_A_COLUMNS, int numBcolumns"),
            "A,B,C,M,K,N");
}

TEST(Recognise, Elements) {
  const auto elements = [](const std::string& text) {
    const Recognised r = recognise(parameters(text));
    return r.roles ? r.roles->element + ">" + r.roles->element_c : r.problem;
  };
  EXPECT_EQ(elements("const half* A, const __half* B, float* C, int n"), "half>float");
  EXPECT_EQ(elements("const nv_bfloat16* A, const __nv_bfloat162* B, float* C, int n"),
            "bfloat16>float");
  EXPECT_EQ(elements("const double* A, const double* B, double* C, int n"), "double>double");
  EXPECT_SAYS(elements("const half* A, const float* B, float* C, int n"), "A is of half");
  EXPECT_SAYS(elements("const char* A, const char* B, int* C, int n"), "elements are float");
  EXPECT_SAYS(elements("const real_t* A, const real_t* B, real_t* C, int n"), "'const real_t* A'");
}

TEST(Recognise, CIsReadWithBetaOrD) {
  const auto reads = [](const std::string& text) {
    return recognise(parameters(text)).roles->c_is_read;
  };
  EXPECT_FALSE(reads("const float* A, const float* B, float* C, int n"));
  EXPECT_FALSE(reads("const float* A, const float* B, float* C, int n, float alpha"));
  EXPECT_TRUE(reads("const float* A, const float* B, float* C, int n, float alpha, float beta"));
  EXPECT_TRUE(reads("const float* A, const float* B, const float* C, float* D, int n"));
}

struct Unclear {
  const char* parameters;
  const char* says;
};

constexpr Unclear kUnclear[] = {
    {"const float* x, float* y, int n", "2 pointers"},
    {"int n", "0 pointers"},
    {"", "0 pointers"},
    {"const float* foo, const float* bar, float* baz, int n", "'foo' and 'bar'"},
    {"float* foo, float* B, float* baz, int n", "'foo' and 'baz'"},
    {"const float* A, const float* B, const float* C, int n", "every pointer is to const"},
    {"float* A, float* B, const float* C, int n", "'C' would be the output"},
    {"const float* A, const float* a, float* C, int n", "as another is"},
    {"const float* A, const float* B, float* C, int M, int N", "no parameter gives K"},
    {"const float* A, const float* B, float* C, int foo, int N, int K", "'int foo'"},
    {"const float* A, const float* B, float* C, int width, int N, int K", "'int width'"},
    {"const float* A, const float* B, float* C, int n, int N, int K", "would both be N"},
    {"const float* A, const float* B, float* C, int seed", "'int seed'"},
    {"const float* A, const float* B, float* C, int n, float gamma", "neither alpha nor beta"},
    {"const float** A, const float* B, float* C, int n", "neither a pointer"},
    {"cudaTextureObject_t A, const float* B, float* C, int n", "neither a pointer"},
    {"const float* A, const float* B, float* C, float* E, int n", "'E'"},
};

TEST(Recognise, UnclearOnesAreListedInOneLine) {
  for (const Unclear& unclear : kUnclear) {
    const Recognised r = recognise(parameters(unclear.parameters));
    EXPECT_FALSE(r.roles) << unclear.parameters;
    EXPECT_SAYS(r.problem, unclear.says);
    EXPECT_SAYS(r.problem, std::string("(") + unclear.parameters + ")");
    EXPECT_EQ(r.problem.find('\n'), std::string::npos);
  }
}

TEST(ParseRoles, OneWordAParameter) {
  const auto p = parameters("float* q, float* r, float* s, int x, int y, int z, float t, float u");
  const Roles roles = parse_roles("c, A,b,k,M,n,ALPHA,beta", p);
  EXPECT_EQ(said(roles.roles), "C,A,B,K,M,N,alpha,beta");
  EXPECT_EQ(roles.element, "float");
  EXPECT_TRUE(roles.c_is_read);
  EXPECT_EQ(
      said(parse_roles("A,B,D,square", parameters("float* q, float* r, float* s, int x")).roles),
      "A,B,C,square");
}

TEST(ParseRoles, BadWords) {
  const auto says = [](const std::string& text) {
    return error_of(ErrorCode::kInvalidArgument,
                    [&] { parse_roles(text, parameters("float* q, float* r, float* s, int x")); });
  };
  EXPECT_SAYS(says("A,B,C"), "has 4");
  EXPECT_SAYS(says("A,B,C,M,N"), "has 4");
  EXPECT_SAYS(says("A,B,C,W"), "'W' is none of");
  EXPECT_SAYS(says("A,B,C,"), "'' is none of");
  EXPECT_SAYS(says("A,A,C,N"), "A is given twice");
  EXPECT_SAYS(says("M,B,C,N"), "M stands for 'float* q', but it is an integer");
  EXPECT_SAYS(says("A,B,C,D"), "a matrix is a pointer");
  EXPECT_SAYS(says("A,B,alpha,N"), "it is a number");
}

TEST(ParseRoles, ConstantsForWhatIsNoPartOfAProduct) {
  const auto p =
      parameters("float* q, float* r, float* s, int x, int Batch, const size_t z, float t");
  const Roles roles = parse_roles("A,B,C,square, Batch=-1, z=8589934592, t=.5", p);
  EXPECT_EQ(roles.roles[4], Role::kConstant);
  EXPECT_EQ(roles.constants, (std::vector<std::string>{"", "", "", "", "-1", "8589934592", ".5"}));
  const auto says = [&](const std::string& text) {
    return error_of(ErrorCode::kInvalidArgument, [&] { parse_roles("A,B,C,square," + text, p); });
  };
  EXPECT_SAYS(says("batch=1,z=1,t=1"), "'batch=1' stands for 'int Batch': write Batch=NUMBER");
  EXPECT_SAYS(says("Batch=,z=1,t=1"), "'Batch=': an integer follows the =");
  EXPECT_SAYS(says("Batch=1.5,z=1,t=1"), "'Batch=1.5': an integer follows the =");
  EXPECT_SAYS(says("Batch=N,z=1,t=1"), "an integer follows the =");
  EXPECT_SAYS(says("Batch=3000000000,z=1,t=1"), "does not fit 'int Batch'");
  EXPECT_SAYS(says("Batch=1,z=-1,t=1"), "'z=-1' does not fit");
  EXPECT_SAYS(says("Batch=1,z=1,t=nan"), "'t=nan': a number follows the =");
  const std::string pointer = error_of(ErrorCode::kInvalidArgument, [] {
    parse_roles("A,B,C,bias=0", parameters("float* q, float* r, float* s, float* bias"));
  });
  EXPECT_SAYS(pointer, "'bias=0' stands for 'float* bias', which is no number");
}

TEST(ParseRoles, MatricesAreComplete) {
  const std::string text = error_of(ErrorCode::kInvalidArgument, [] {
    parse_roles("A,C,N", parameters("float* q, float* r, int x"));
  });
  EXPECT_SAYS(text, "A, B and C must be among them");
  const std::string mixed = error_of(ErrorCode::kInvalidArgument, [] {
    parse_roles("A,B,C", parameters("float* q, half* r, int* x"));
  });
  EXPECT_SAYS(mixed, "A is of float and B of half");
}

}  // namespace
}  // namespace tessera::simt
