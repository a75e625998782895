// How a kernel that comes alone is launched.
#include "simt/gemm/driver.h"

#include "simt/gemm/expression.h"
#include "simt_gemm_support.h"

namespace tessera::simt {
namespace {

using test::error_of;

constexpr char kProduct[] = "const float* A, const float* B, float* C, int M, int N, int K";
constexpr char kByY[] =
    "int row = blockIdx.y * blockDim.y + threadIdx.y;"
    "int col = blockIdx.x * blockDim.x + threadIdx.x;"
    "if (row < M && col < N) { float s = 0; for (int p = 0; p < K; ++p) s += A[row*K+p]*B[p*N+col];"
    "C[row * N + col] = s; }";

Translation with(std::vector<Signature> kernels, std::vector<Constant> constants = {}) {
  Translation t;
  t.kernels = std::move(kernels);
  t.constants = std::move(constants);
  return t;
}

DriverOptions sizes(std::int64_t m = 64, std::int64_t n = 48, std::int64_t k = 32) {
  DriverOptions o;
  o.m = m;
  o.n = n;
  o.k = k;
  return o;
}

std::string how(const Signature& kernel, std::vector<Constant> constants = {},
                const std::string& name = "") {
  DriverOptions o = sizes();
  o.kernel = name;
  return make_driver(with({kernel}, std::move(constants)), o).how;
}

std::string refusal(const Translation& t, const DriverOptions& o) {
  return error_of(ErrorCode::kInvalidArgument, [&] { make_driver(t, o); });
}

TEST(Driver, TextCallsTheKernel) {
  const Driver d = make_driver(with({kernel("naive", kProduct, kByY)}), sizes());
  EXPECT_EQ(d.kernel, "naive");
  EXPECT_EQ(d.place().line, 7);
  EXPECT_SAYS(d.how, "block (16,16), grid (ceil(N/16), ceil(M/16))");
  EXPECT_SAYS(d.text, "extern \"C\" void simt_drive(const SimtDrive* simt_x_) {");
  EXPECT_SAYS(d.text,
              "naive<<<dim3((unsigned)(simt_ceil_div(simt_x_->n_, 16LL)), "
              "(unsigned)(simt_ceil_div(simt_x_->m_, 16LL)), (unsigned)1), dim3(16, 16, 1), 0>>>("
              "(const float*)simt_x_->a_, (const float*)simt_x_->b_, (float*)simt_x_->c_, "
              "(int)simt_x_->m_, (int)simt_x_->n_, (int)simt_x_->k_);");
  EXPECT_FALSE(d.roles.c_is_read);
}

TEST(Driver, ArgumentsByRole) {
  const Driver d = make_driver(
      with({kernel("g",
                   "size_t N, const half* B, half* D, const half* A, const half* C, half alpha, "
                   "float beta, int lda")}),
      [] {
        DriverOptions o = sizes(8, 8, 8);
        o.roles = "square,B,D,A,C,alpha,beta,lda";
        return o;
      }());
  EXPECT_SAYS(d.text,
              "((size_t)simt_x_->m_, (const half*)simt_x_->b_, (half*)simt_x_->d_, "
              "(const half*)simt_x_->a_, (const half*)simt_x_->c_, (half)(float)simt_x_->alpha_, "
              "(float)simt_x_->beta_, (int)simt_x_->lda_)");
  EXPECT_TRUE(d.roles.c_is_read);
}

TEST(Driver, SolveLaunchesByItself) {
  Translation t = with({kernel("k1", kProduct), kernel("k2", kProduct)});
  t.solves.push_back(
      {21, parameters("const float* A, const float* B, float* C, int M, int K, int N"), "k.cu"});
  const Driver d = make_driver(t, sizes());
  EXPECT_EQ(d.kernel, "solve");
  EXPECT_EQ(d.line, 21);
  EXPECT_SAYS(d.text, "(int)simt_x_->m_, (int)simt_x_->k_, (int)simt_x_->n_);");
  EXPECT_SAYS(d.text, "  solve((const float*)");
  DriverOptions o = sizes();
  o.kernel = "k2";
  EXPECT_EQ(make_driver(t, o).kernel, "k2");
  o.kernel = "solve";
  o.block = "16,16";
  EXPECT_SAYS(refusal(t, o), "solve launches by itself");
}

TEST(Driver, InnerSizeCalledN) {
  constexpr char kBody[] =
      "int r = blockIdx.y * 16 + threadIdx.y, c = blockIdx.x * 16 + threadIdx.x; float s = 0;"
      "for (int i = 0; i < N; ++i) s += A[r * N + i] * B[i * K + c]; C[r * K + c] = s;";
  const Driver d = make_driver(with({kernel("k", kProduct, kBody)}), sizes());
  EXPECT_EQ(d.roles.roles[4], Role::kK);
  EXPECT_EQ(d.roles.roles[5], Role::kN);
  EXPECT_SAYS(d.how, "its N is the inner size");
  // The same by way of solve.
  Translation t = with({kernel("k", kProduct, kBody)});
  t.solves.push_back({30, parameters(kProduct), "k.cu"});
  EXPECT_EQ(make_driver(t, sizes()).roles.roles[4], Role::kK);
}

struct Derivation {
  const char* name;
  const char* template_parameters;
  const char* launch_bounds;
  const char* body;
  std::vector<Constant> constants;
  const char* says;
};

TEST(Driver, DerivesBlockAndGrid) {
  const std::string by_y = kByY;
  const std::string lines =
      "int row = blockIdx.y * TILE + threadIdx.x / TILE, col = blockIdx.x * TILE + threadIdx.x % "
      "TILE; C[row * N + col] = 0;";
  const std::string registers =
      "const int cRow = blockIdx.y; const int cCol = blockIdx.x; C += cRow * BM * N + cCol * BN; "
      "C[threadIdx.x * N] = 0;";
  const Derivation all[] = {
      {"k",
       "",
       "",
       by_y.c_str(),
       {{"TILE", "32"}},
       "block (32,32), grid (ceil(N/32), ceil(M/32)), "
       "derived from TILE = 32"},
      {"k", "", "", by_y.c_str(), {{"HALF", "4"}, {"TILE_WIDTH", "HALF*2"}}, "block (8,8)"},
      {"k", "", "", lines.c_str(), {{"TILE", "32"}}, "block (1024), grid (ceil(N/32), ceil(M/32))"},
      {"k",
       "",
       "256",
       by_y.c_str(),
       {{"TILE", "32"}},
       "block (32,8), grid (ceil(N/32), ceil(M/32))"},
      {"k", "", "1024", by_y.c_str(), {}, "block (32,32), grid (ceil(N/32), ceil(M/32))"},
      {"k", "", "512", by_y.c_str(), {}, "block (32,16), grid (ceil(N/32), ceil(M/16))"},
      {"k", "", "64", by_y.c_str(), {}, "block (8,8), grid (ceil(N/8), ceil(M/8))"},
      {"k<64>", "int BLOCK_SIZE", "", by_y.c_str(), {}, "block (64,64)"},
      {"k", "int TILE", "", by_y.c_str(), {}, "block (16,16)"},
      {"k",
       "const int BM, const int BN, const int BK, const int TM, const int TN",
       "",
       registers.c_str(),
       {},
       "block (256), grid (ceil(N/128), ceil(M/128)), derived from BM = 128"},
      {"k",
       "int BM, int BN, int BK, int TM",
       "",
       registers.c_str(),
       {},
       "block (512), grid (ceil(N/64), ceil(M/64))"},
      {"k<64,32,8,4,4>",
       "int BM, int BN, int BK, int TM, int TN",
       "",
       registers.c_str(),
       {},
       "block (128), grid (ceil(N/32), ceil(M/64))"},
      {"k<64,32,8,4,4>",
       "int BM, int BN, int BK, int TM, int TN",
       "",
       by_y.c_str(),
       {},
       "block (8,16), grid (ceil(N/32), ceil(M/64))"},
      {"k<128,128,8,8,8>",
       "int BM, int BN, int BK, int TM, int TN",
       "(BM * BN) / (TM * TN), 1",
       registers.c_str(),
       {},
       "block (256)"},
      {"k<128,128,16,64,64,256>",
       "int BM, int BN, int BK, int WM, int WN, int NUM_THREADS",
       "",
       registers.c_str(),
       {},
       "block (256), grid (ceil(N/128), ceil(M/128))"},
      {"k",
       "",
       "",
       by_y.c_str(),
       {{"BLOCK_X", "32"}, {"BLOCK_Y", "8"}},
       "block (32,8), grid (ceil(N/32), ceil(M/8))"},
      {"k",
       "",
       "",
       by_y.c_str(),
       {{"TILE_WIDTH", "16"}, {"COARSE_FACTOR", "4"}},
       "block (16,16), grid (ceil(N/64), ceil(M/16))"},
  };
  for (const Derivation& d : all) {
    Signature s = kernel("k", kProduct, d.body, d.template_parameters);
    s.launch_bounds = d.launch_bounds;
    EXPECT_SAYS(how(s, d.constants, d.name), d.says);
  }
}

TEST(Driver, DerivesFromTheBodyItself) {
  const auto derived = [](const std::string& body) { return how(kernel("k", kProduct, body)); };
  // Its own constants and shared arrays.
  EXPECT_SAYS(derived(std::string("constexpr int TILE = 8;") + kByY), "block (8,8)");
  EXPECT_SAYS(derived(std::string("__shared__ float s[32][33];") + kByY), "block (32,32)");
  // Rows by blockIdx.x: a guard, an index of C, a name.
  EXPECT_SAYS(derived("int x = blockIdx.x*blockDim.x+threadIdx.x, y = blockIdx.y*blockDim.y+"
                      "threadIdx.y; if (x < M && y < N) C[x*N+y] = 0;"),
              "grid (ceil(M/16), ceil(N/16))");
  EXPECT_SAYS(derived("int i = blockIdx.x*16+threadIdx.x; int j = blockIdx.y*16+threadIdx.y; "
                      "C[i * N + j] = 0;"),
              "grid (ceil(M/16), ceil(N/16))");
  EXPECT_SAYS(derived("int bx = blockIdx.x; int row = bx * 16 + threadIdx.y; int col = blockIdx.y *"
                      " 16 + threadIdx.x; f(C, row, col);"),
              "grid (ceil(M/16), ceil(N/16))");
  EXPECT_SAYS(derived("if (blockIdx.x * 16 + threadIdx.x >= N || blockIdx.y * 16 + threadIdx.y >= "
                      "M) return;"),
              "grid (ceil(N/16), ceil(M/16))");
  // One dimension.
  EXPECT_SAYS(derived("int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < M * N) C[i] = 0;"),
              "block (256), grid (ceil(M*N/256))");
  EXPECT_SAYS(derived("int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < M) C[i * N] = 0;"),
              "block (256), grid (ceil(M/256))");
}

TEST(Driver, DerivesWhatAWarpOrABlockHas) {
  const auto derived = [](const std::string& body) { return how(kernel("k", kProduct, body)); };
  // A warp has one element.
  EXPECT_SAYS(derived("int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32; if (warp >= M * N) "
                      "return; C[warp / N * N + warp % N] = 0;"),
              "block (256), grid (ceil(M*N/8))");
  EXPECT_SAYS(
      derived("int t = blockIdx.x * blockDim.x + threadIdx.x; int row = t >> 5; if (row < M)"
              " C[row * N] = 0;"),
      "block (256), grid (ceil(M/8))");
  EXPECT_SAYS(derived("int w = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; if (w < M * N) "
                      "C[w] = 0;"),
              "grid (ceil(M*N/8))");
  // A block has one element, row or column.
  EXPECT_SAYS(derived("int i = blockIdx.y, j = blockIdx.x, t = threadIdx.x; C[i * N + j] = t;"),
              "block (256), grid (N, M)");
  EXPECT_SAYS(derived("__shared__ float sums[128]; int i = blockIdx.x, j = blockIdx.y; "
                      "C[i * N + j] = 0;"),
              "block (128), grid (M, N), derived from a shared array [128]");
  EXPECT_SAYS(derived("int row = blockIdx.x; for (int j = threadIdx.x; j < N; j += blockDim.x) "
                      "C[row * N + j] = 0;"),
              "block (256), grid (M)");
  EXPECT_SAYS(derived("int i = blockIdx.x / N, j = blockIdx.x % N; C[i * N + j] = 0;"),
              "block (256), grid (M*N)");
  EXPECT_SAYS(derived("int row = blockIdx.y; int col = blockIdx.x * blockDim.x + threadIdx.x; "
                      "C[row * N + col] = 0;"),
              "block (256), grid (ceil(N/256), M)");
  // Not those that are multiplied by a tile later, or given to a function.
  for (const char* body : {"int bx = blockIdx.x, by = blockIdx.y; C[by * 16 * N + bx * 16] = 0;",
                           "int bx = blockIdx.x, by = blockIdx.y; f(C, bx, by);",
                           "int bx = blockIdx.x, by = blockIdx.y; C[((by + 0) * 16) * N + (bx + 0) "
                           "* 16] = 0;"}) {
    EXPECT_SAYS(derived(body), "grid (ceil(N/256), M)");
  }
}

TEST(Driver, NamesOfTheSource) {
  const auto names = [](const char* parameters_text, const std::string& body = "") {
    std::string out;
    for (const SaidAs& n :
         make_driver(with({kernel("k", parameters_text, body)}), sizes(8, 8, 8)).names) {
      if (n.own != n.general) out += n.general + "=" + n.own + " ";
    }
    return out;
  };
  EXPECT_EQ(names(kProduct), "");
  EXPECT_EQ(names("const float* d_a, const float* d_b, float* d_c, int m, int n, int k"),
            "A=d_a B=d_b C=d_c M=m N=n K=k ");
  EXPECT_EQ(names("const float* A, const float* B, float* C, int width"),
            "M=width N=width K=width ");
  EXPECT_EQ(names(kProduct,
                  "int r = blockIdx.y * 16 + threadIdx.y, c = blockIdx.x * 16 + threadIdx.x; float "
                  "s = 0; for (int i = 0; i < N; ++i) s += A[r * N + i] * B[i * K + c]; "
                  "C[r * K + c] = s;"),
            "N=K K=N ");
}

TEST(Driver, OneSizeForAll) {
  const Translation t = with({kernel("k", "float* M, float* N, float* P, int Width")});
  EXPECT_SAYS(make_driver(t, sizes(9, 9, 9)).text, "(int)simt_x_->m_)");
  EXPECT_SAYS(refusal(t, sizes(9, 9, 8)), "has one size, Width");
}

TEST(Driver, TypesOfTemplatesAndAliases) {
  Translation t =
      with({kernel("k", "const T* A, const T* B, T* C, int N", "", "typename T, int TILE")});
  DriverOptions o = sizes(8, 8, 8);
  Driver d = make_driver(t, o);
  EXPECT_EQ(d.kernel, "k<float, 16>");
  EXPECT_SAYS(d.text, "(const float*)simt_x_->a_");
  o.kernel = "k<double, 8>";
  d = make_driver(t, o);
  EXPECT_EQ(d.roles.element, "double");
  EXPECT_SAYS(d.how, "block (8,8)");
  t = with({kernel("k", "const real* A, const real* B, real* C, int N")});
  t.aliases = {{"real", "double"}};
  EXPECT_EQ(make_driver(t, sizes(8, 8, 8)).roles.element, "double");
}

TEST(Driver, AddsToC) {
  const auto reads = [](const std::string& body) {
    return make_driver(with({kernel("k", kProduct, body)}), sizes()).roles.c_is_read;
  };
  EXPECT_TRUE(reads("C[threadIdx.x] += A[0];"));
  EXPECT_TRUE(reads("atomicAdd(&C[threadIdx.x], A[0]);"));
  EXPECT_FALSE(reads("C[threadIdx.x] = 0; C[threadIdx.x] += A[0];"));
  EXPECT_FALSE(reads("s += C2[0]; C[threadIdx.x] = s;"));
}

TEST(Driver, ChoiceOfKernel) {
  Translation t = with({kernel("one", kProduct), kernel("two", kProduct, "", "int TILE, bool B")});
  std::string text = refusal(t, sizes());
  EXPECT_SAYS(text, "name one of 2 kernels: one (line 7), two<int TILE, bool B> (line 7)");
  DriverOptions o = sizes();
  o.kernel = "three";
  EXPECT_SAYS(refusal(t, o), "'three': there is none; there is one (line 7)");
  o.kernel = "two";
  EXPECT_SAYS(refusal(t, o), "two<int TILE, bool B> (line 7) needs template arguments");
  o.kernel = " two < 16 , true >";
  EXPECT_EQ(make_driver(t, o).kernel, "two<16, true>");
  for (const char* bad : {"two<16", "two<16;>", "two<16,>", "two<1,2,3>", "two<(1>", "two<,>"}) {
    o.kernel = bad;
    refusal(t, o);
  }
  EXPECT_SAYS(refusal(with({}), sizes()), "no __global__ function");
  EXPECT_SAYS(refusal(with({kernel("add", "const float* x, float* y, int n")}), sizes()),
              "kernel add: its arguments are not plainly those of a product: "
              "(const float* x, float* y, int n): 2 pointers");
}

TEST(Driver, GivenBlockAndGrid) {
  const Translation t = with({kernel("k", kProduct, kByY)});
  DriverOptions o = sizes();
  o.block = "32,8";
  o.grid = "N/32, (M+7)/8, 2";
  o.shared = "2*16*16*4";
  const Driver d = make_driver(t, o);
  EXPECT_SAYS(d.how, "block (32,8), grid (N/32, (M+7)/8, 2)");
  EXPECT_SAYS(d.how, "block and grid as given");
  EXPECT_SAYS(d.text, "(unsigned)((simt_x_->n_ / 32LL)), (unsigned)(((simt_x_->m_ + 7LL) / 8LL))");
  EXPECT_SAYS(d.text, "dim3(32, 8, 1), (size_t)((((2LL * 16LL) * 16LL) * 4LL))>>>");
  o.grid = "N/64,1";  // 0 blocks is a launch that fails, not a bad rule
  make_driver(t, o);
}

TEST(Driver, ArgumentsThatAreNumbers) {
  const Translation t =
      with({kernel("k", std::string(kProduct) + ", int batch, float scale", kByY)});
  EXPECT_SAYS(refusal(t, sizes()), "name=NUMBER for one that is none of them");
  DriverOptions o = sizes();
  o.roles = "A,B,C,M,N,K,batch=3,scale=-0.5";
  const Driver d = make_driver(t, o);
  EXPECT_SAYS(d.text, "(int)simt_x_->k_, (int)(3), (float)(-0.5))");
  EXPECT_SAYS(d.how, "; batch = 3; scale = -0.5");
}

TEST(Driver, TileOfTheGrid) {
  const Translation t = with({kernel("k", kProduct, kByY)});
  DriverOptions o = sizes();
  EXPECT_EQ(make_driver(t, o).tile, 16);
  o.grid = "ceil(N/ 24), ceil(M/16)";
  EXPECT_EQ(make_driver(t, o).tile, 48);
  o.grid = "N,M";
  EXPECT_EQ(make_driver(t, o).tile, 0);
}

TEST(Driver, ColumnMajor) {
  DriverOptions o = sizes();
  o.layout = "col";
  const auto made = [&](const std::string& arguments, const std::string& body) {
    const Driver d = make_driver(with({kernel("k", arguments, body)}), o);
    EXPECT_TRUE(d.column_major);
    EXPECT_SAYS(d.how, "; matrices are column-major");
    return d.how;
  };
  const std::string x_then_y =
      "int i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 16 + threadIdx.y;";
  EXPECT_SAYS(made(kProduct, x_then_y + "C[i + j * M] = 0;"), "grid (ceil(M/16), ceil(N/16))");
  EXPECT_SAYS(made(kProduct, x_then_y + "C[i * M + j] = 0;"), "grid (ceil(N/16), ceil(M/16))");
  EXPECT_SAYS(made("int m, int n, int k, const float* A, int lda, const float* B, int ldb, float* "
                   "C, int ldc",
                   x_then_y + "C[j * ldc + i] = 0;"),
              "grid (ceil(M/16), ceil(N/16))");
  o.layout = "row";
  EXPECT_FALSE(make_driver(with({kernel("k", kProduct, kByY)}), o).column_major);
}

TEST(Driver, BadRules) {
  const Translation t = with({kernel("k", kProduct, kByY)});
  for (const char* bad : {"N/", "X/16,M/16", "ceil(N/16", "N%16", "N/0", "1,2,3,4", "", "N-100",
                          "m/16", "system(1)", "N/16;M", "1e9", "N*N*N*N*N*N*N*N*N*N*N*N", ","}) {
    DriverOptions o = sizes();
    o.grid = bad;
    if (o.grid.empty()) continue;
    EXPECT_SAYS(refusal(t, o), "--grid");
  }
  const std::pair<const char*, const char*> said[] = {
      {"ceil(N/16,M/16", "a ')' is missing: the '(' behind 'ceil' is not closed"},
      {"(N+15/16", "a ')' is missing: the '(' at the beginning is not closed"},
      {"-N/16,M/16", "in '-N/16' '-' at the beginning has nothing on its left"},
      {"N*-1,M", "in 'N*-1' '-' behind '*' has nothing on its left"},
      {"N/16),M", "')' has no '(' before it"},
      {"N/,M", "in 'N/' nothing follows '/'"},
      {"N,,M", "in '' it is empty"},
      {"N 16,M", "'16' follows 'N' without + - * or / between"},
      {"(N%16)", "'%' is none of + - * /"},
      {"1.5", "'1.5' is no whole number"},
      {"ceil N", "ceil has no '(' behind it"},
      {"N-300,M", "N-300 is -100, no number of blocks, at M,N,K = 100,200,50"},
      {"N/(M-100)",
       "N/(M-100) has no value (a divisor is below 1, or it does not fit 64 bits) at "
       "M,N,K = 100,200,50"},
  };
  for (const auto& [grid, why] : said) {
    DriverOptions o = sizes(100, 200, 50);
    o.grid = grid;
    EXPECT_SAYS(refusal(t, o), std::string("--grid '") + grid + "': ");
    EXPECT_SAYS(refusal(t, o), why);
  }
  for (const char* bad : {"0", "16,0", "M", "-1", "x", "1,2,3,4", "99999999999999999999", "16,"}) {
    DriverOptions o = sizes();
    o.block = bad;
    EXPECT_SAYS(refusal(t, o), "--block");
  }
  for (const char* bad : {"-4", "1,2", "x", "4/0"}) {
    DriverOptions o = sizes();
    o.shared = bad;
    EXPECT_SAYS(refusal(t, o), "--shared");
  }
  EXPECT_SAYS(refusal(t, sizes(-1, 2, 3)), "--gemm -1,2,3");
}

TEST(Driver, DynamicSharedMemoryIsAskedFor) {
  const Translation t =
      with({kernel("k", kProduct, std::string("extern __shared__ float s[];") + kByY)});
  EXPECT_SAYS(refusal(t, sizes()), "--shared BYTES");
  DriverOptions o = sizes();
  o.shared = "2048";
  EXPECT_SAYS(make_driver(t, o).text, "2048");
}

TEST(Driver, NotesGridsThatEnd) {
  const Translation t = with({kernel("k", kProduct, kByY)});
  EXPECT_EQ(make_driver(t, sizes()).grid_note,
            "grid.y = ceil(M/16): a launch fails beyond M = 1048560");
  DriverOptions o = sizes();
  o.block = "16,16";
  o.grid = "ceil(M/128),ceil(N/128)";
  EXPECT_EQ(make_driver(t, o).grid_note, "grid.y = ceil(N/128): a launch fails beyond N = 8388480");
  o.grid = "ceil(M/16)*ceil(N/16)";
  EXPECT_EQ(make_driver(t, o).grid_note, "");
  const Translation own = with({kernel(
      "k", "const float* d_A, const float* d_B, float* d_C, int hA, int wB, int wA", kByY)});
  EXPECT_EQ(make_driver(own, sizes()).grid_note,
            "grid.y = ceil(hA/16): a launch fails beyond hA = 1048560");
  o.grid = "N/300,M";
  EXPECT_EQ(make_driver(t, o).grid_note,
            "grid.x = N/300 is 0 at M,N,K = 64,48,32: such a launch fails; "
            "grid.y = M: a launch fails beyond M = 65535");
  o.grid = "1,1,M";
  EXPECT_EQ(make_driver(t, o).grid_note, "grid.z = M: a launch fails beyond M = 65535");
}

TEST(ExpressionText, Values) {
  const auto value = [](const std::string& text) -> std::int64_t {
    const auto e = Expression::parse(text);
    if (!e) return -1000;
    return e->evaluate([](const std::string&) { return 7; }).value_or(-2000);
  };
  EXPECT_EQ(value("ceil(x/2) + x/2 * (x - 1)"), 22);
  EXPECT_EQ(value("16u*4UL"), 64);
  EXPECT_EQ(value("ceil(5)"), 5);
  EXPECT_EQ(value("2-3-4"), -5);
  for (const char* bad :
       {"", "+", "1 2", "(1", "1)", "ceil", "f(1)", "1.5", "0x10q", "1+*2", "\"a\""}) {
    EXPECT_EQ(value(bad), -1000) << bad;
  }
  EXPECT_EQ(value("x/0"), -2000);
  EXPECT_EQ(value("9223372036854775807+1"), -2000);
  EXPECT_EQ(value(std::string(5000, '(')), -1000);
}

}  // namespace
}  // namespace tessera::simt
