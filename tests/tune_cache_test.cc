// The tuning cache: what is kept, what is believed, and what "tuned" makes of it.
#include "bench/tune_cache.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/json_reader.h"
#include "bench/tuned.h"
#include "tessera/error.h"

namespace tessera::bench {
namespace {

namespace fs = std::filesystem;
constexpr const char* kDate = "2026-01-02T03:04:05Z";
constexpr const char* kNaive = "cpu.naive.f32";
constexpr const char* kBlocked = "cpu.blocked.f32";
const DeviceKey kHere = {"cpu: this", "", "gcc 1", "abc", "normal", "warm"};

TuneTiming passed(double median_s, const std::string& date = kDate) {
  return {Disposition::kPassed, median_s, 0.01, date};
}

TunedShape shape_of(std::map<std::string, TuneTiming> kernels, const std::string& winner = "") {
  TunedShape tuned;
  tuned.kernels = std::move(kernels);
  tuned.winner = winner;
  return tuned;
}

Case dense(std::int64_t m, std::int64_t n, std::int64_t k, DType dtype = DType::kF32) {
  return dense_case(Op::kN, Op::kN, m, n, k, dtype);
}

TuneReader reader() {
  return {kHere.compiler, kHere.commit,
          [](const std::string& id) { return id == kNaive || id == kBlocked; }};
}

TuneCache read(const Json& json, std::vector<std::string>* faults) {
  return read_tune_cache("tune.json", json, reader(), faults);
}

/// Two shapes of this program, one of another.
TuneCache example() {
  TuneCache cache;
  cache.put(kHere, tune_shape(dense(64, 48, 32)),
            shape_of({{kNaive, passed(2e-3)}, {kBlocked, passed(1e-3)}}, kBlocked));
  Case batch = dense(7, 5, 3);
  batch.desc.batch = 4;
  batch.desc.a.batch_stride = 21;
  batch.desc.b.batch_stride = 15;
  batch.desc.c.batch_stride = 35;
  cache.put(kHere, tune_shape(batch), shape_of({{kNaive, passed(1e-6)}}, kNaive));
  DeviceKey other = kHere;
  other.compiler = "gcc 2";
  cache.put(other, tune_shape(dense(64, 48, 32)),
            shape_of({{"cuda.tiled.f32.9999x9999", passed(1e-9)}}, "cuda.tiled.f32.9999x9999"));
  return cache;
}

TEST(TuneShape, LayoutsAreOpsAndWhatIsNotPlainIsNamed) {
  EXPECT_EQ(to_string(tune_shape(dense(6, 5, 4))), "6x5x4 NN");
  Case c = dense_case(Op::kT, Op::kN, 6, 5, 4, DType::kF64);
  EXPECT_EQ(to_string(tune_shape(c)), "6x5x4 TN f64");
  Case column = dense(6, 5, 4);
  column.desc.a = {6, 4, 6, Layout::kColMajor, 0, 256};
  EXPECT_EQ(tune_shape(column), tune_shape(dense_case(Op::kT, Op::kN, 6, 5, 4, DType::kF32)));
  Case padded = dense(6, 5, 4);
  padded.desc.b.ld = 9;
  padded.beta = 1;
  EXPECT_EQ(to_string(tune_shape(padded)), "6x5x4 NN (ldb 9, reads C)");
  // A pointer that says less than rows of 16 bytes is another form; one of 16 bytes is not.
  Case pointer = dense(8, 8, 8);
  pointer.desc.a.alignment = 4;
  EXPECT_EQ(to_string(tune_shape(pointer)), "8x8x8 NN (A at 4 bytes)");
  pointer.desc.a.alignment = 16;
  EXPECT_EQ(to_string(tune_shape(pointer)), "8x8x8 NN");
  Case odd = dense(5, 5, 5);
  odd.desc.a.alignment = 4;
  EXPECT_EQ(to_string(tune_shape(odd)), "5x5x5 NN") << "rows of 20 bytes say as little";
}

TEST(TuneCache, JsonKeepsEverything) {
  const Json json = tune_cache_json(example());
  std::vector<std::string> faults;
  const TuneCache back = read(Json::parse(json.dump()), &faults);
  EXPECT_TRUE(faults.empty()) << faults.front();
  EXPECT_EQ(tune_cache_json(back), json);
  EXPECT_EQ(back.entries().size(), 2U);
  EXPECT_EQ(back.find(kHere)->size(), 2U);
}

TEST(TuneCache, I8_OneEditedEntryIsLeftOutAndTheRestStays) {
  const auto edited = [](const std::function<void(Json&)>& edit) {
    Json json = tune_cache_json(example());
    for (Json& entry : json["entries"]) {
      if (entry["compiler"] == kHere.compiler) edit(entry);
    }
    return json;
  };
  const auto shape = [](Json& entry) -> Json& { return entry["shapes"][1]; };
  const auto timing = [&](Json& entry) -> Json& { return shape(entry)["kernels"][kNaive]; };
  const std::vector<std::pair<const char*, std::function<void(Json&)>>> edits = {
      {"unknown kernel",
       [&](Json& e) {
         Json& kernels = shape(e)["kernels"];
         kernels["cuda.tiled.f32.4096x4096"] = kernels[kNaive];
       }},
      {"no kernel at all", [&](Json& e) { shape(e)["kernels"]["../../etc"] = 1; }},
      {"another type", [&](Json& e) { shape(e)["kernels"]["cpu.naive.f64"] = timing(e); }},
      {"negative time", [&](Json& e) { timing(e)["median_s"] = -1e-3; }},
      {"zero time", [&](Json& e) { timing(e)["median_s"] = 0; }},
      {"no time", [&](Json& e) { timing(e).erase("median_s"); }},
      {"text for a time", [&](Json& e) { timing(e)["median_s"] = "fast"; }},
      {"negative noise", [&](Json& e) { timing(e)["noise"] = -1; }},
      {"disposition", [&](Json& e) { timing(e)["disposition"] = "great"; }},
      {"date", [&](Json& e) { timing(e)["date"] = "2026"; }},
      {"list for a timing",
       [&](Json& e) {
         timing(e) = Json::array({1, 2});
       }},
      {"negative size", [&](Json& e) { shape(e)["m"] = -64; }},
      {"no size", [&](Json& e) { shape(e).erase("k"); }},
      {"half a size", [&](Json& e) { shape(e)["n"] = 0.5; }},
      {"huge size", [&](Json& e) { shape(e)["n"] = 1e300; }},
      {"ops", [&](Json& e) { shape(e)["ops"] = "NX"; }},
      {"type", [&](Json& e) { shape(e)["dtype"] = "i8"; }},
      {"kernels", [&](Json& e) { shape(e)["kernels"] = 7; }},
      {"shape", [&](Json& e) { shape(e) = "64x64x64"; }},
      {"shapes", [&](Json& e) { e["shapes"] = "none"; }},
      {"device", [&](Json& e) { e["device"] = 3; }},
      {"no commit", [&](Json& e) { e.erase("commit"); }},
  };
  for (const auto& [name, edit] : edits) {
    std::vector<std::string> faults;
    const TuneCache cache = read(edited(edit), &faults);
    EXPECT_EQ(faults.size(), 1U) << name;
    EXPECT_EQ(faults.empty() ? 0 : std::count(faults[0].begin(), faults[0].end(), '\n'), 0);
    EXPECT_EQ(cache.entries().count(kHere), cache.find(kHere) != nullptr ? 1U : 0U);
    EXPECT_NE(cache.entries().size(), 0U) << name << ": the other program's entry stays";
    for (const auto& [key, shapes] : cache.entries()) {
      for (const auto& [at, tuned] : shapes) {
        EXPECT_FALSE(tuned.by_merit().empty());
        if (key != kHere) continue;
        for (const auto& [id, kept] : tuned.kernels) EXPECT_TRUE(reader().has_kernel(id)) << name;
      }
    }
  }
}

TEST(TuneCache, I8_AWinnerThatIsNotThereIsReplaced) {
  Json json = tune_cache_json(example());
  for (Json& entry : json["entries"]) {
    for (Json& shape : entry["shapes"]) shape["winner"] = "cpu.gone.f32";
  }
  std::vector<std::string> faults;
  const TuneCache cache = read(json, &faults);
  EXPECT_EQ(cache.find(kHere, tune_shape(dense(64, 48, 32)))->winner, kBlocked);
}

TEST(TuneCache, I8_NotACacheAtAll) {
  std::vector<std::string> faults;
  for (const char* text :
       {"{}", "[]", "null", "7", R"({"schema":"tessera-tune-2","entries":[]})",
        R"({"schema":"tessera-tune-1"})", R"({"schema":"tessera-tune-1","entries":{}})",
        R"({"schema":1,"entries":[]})"}) {
    EXPECT_THROW(read(Json::parse(text), &faults), Error) << text;
  }
  EXPECT_TRUE(faults.empty());
}

TEST(TuneCache, I8_TruncatedAtEveryLength) {
  const std::string whole = tune_cache_json(example()).dump();
  std::string name = fs::temp_directory_path() / "tessera_tune_XXXXXX";
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const std::string path = name + "/tune.json";
  const auto read_first = [&](std::size_t length) {
    std::ofstream(path, std::ios::binary).write(whole.data(), static_cast<long>(length));
    std::vector<std::string> faults;
    return read_tune_cache(path, read_json(path), reader(), &faults).entries().size();
  };
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(read_first(length), Error) << length;
  }
  EXPECT_EQ(read_first(whole.size()), 2U);
  fs::remove_all(name);
}

TEST(TuneCache, AContestReplacesWhatTookPartInIt) {
  const TuneShape shape = tune_shape(dense(8, 8, 8));
  TuneCache cache;
  cache.put(kHere, shape,
            shape_of({{"a.a.f32", passed(10)}, {"b.b.f32", passed(10.5)}}, "a.a.f32"));
  // The clock is slower now; b, which was slower than a, is not the best for its older time.
  cache.put(kHere, shape, shape_of({{"a.a.f32", passed(12)}, {"c.c.f32", passed(13)}}, "a.a.f32"));
  EXPECT_EQ(cache.find(kHere, shape)->winner, "a.a.f32");
  EXPECT_EQ(cache.find(kHere, shape)->by_merit(),
            (std::vector<std::string>{"a.a.f32", "b.b.f32", "c.c.f32"}));
  // Another process found d meanwhile.
  cache.put(kHere, shape, shape_of({{"d.d.f32", passed(9)}}, "d.d.f32"));
  cache.put(kHere, shape, shape_of({{"a.a.f32", passed(12)}}, "a.a.f32"));
  EXPECT_EQ(cache.find(kHere, shape)->winner, "d.d.f32");
  // It turns out to be wrong.
  TuneTiming wrong;
  wrong.disposition = Disposition::kIncorrect;
  cache.put(kHere, shape, shape_of({{"d.d.f32", wrong}, {"a.a.f32", passed(12)}}, "a.a.f32"));
  EXPECT_EQ(cache.find(kHere, shape)->winner, "a.a.f32");
  EXPECT_EQ(cache.find(kHere, shape)->by_merit().size(), 3U);
}

TEST(TuneCache, MergingKeepsTheLaterTimingAndAllDevices) {
  const TuneShape shape = tune_shape(dense(8, 8, 8));
  TuneCache ours, theirs;
  ours.put(kHere, shape, shape_of({{kNaive, passed(2, "2026-02-01T00:00:00Z")}}, kNaive));
  theirs.put(kHere, shape,
             shape_of({{kNaive, passed(9, "2026-01-01T00:00:00Z")},
                       {kBlocked, passed(1, "2026-01-01T00:00:00Z")}},
                      kBlocked));
  DeviceKey gpu = kHere;
  gpu.device = "cuda: another";
  theirs.put(gpu, shape, shape_of({{"cuda.naive.f32", passed(1)}}, "cuda.naive.f32"));
  ours.merge(theirs);
  const TunedShape* merged = ours.find(kHere, shape);
  EXPECT_EQ(merged->kernels.at(kNaive).median_s, 2);
  EXPECT_EQ(merged->winner, kBlocked);
  EXPECT_NE(ours.find(gpu, shape), nullptr);
}

class TunedKernelTest : public testing::Test {
 protected:
  void put(const Case& c, const std::string& kernel, const DeviceKey& key = kHere) {
    cache_.put(key, tune_shape(c), shape_of({{kernel, passed(1e-3)}}, kernel));
  }
  std::string choose(const Case& c) const {
    const auto choice = tuned_kernel(cache_, c, kHere);
    if (!choice) return "auto";
    return choice->kernel + (choice->exact ? " = " : " ~ ") + to_string(choice->measured_on);
  }
  TuneCache cache_;
};

TEST_F(TunedKernelTest, I5_ExactElseNearestElseAuto) {
  EXPECT_EQ(choose(dense(255, 2048, 16)), "auto");
  put(dense(255, 2048, 16), kNaive);
  put(dense(2048, 2048, 2048), kBlocked);
  EXPECT_EQ(choose(dense(255, 2048, 16)), "cpu.naive.f32 = 255x2048x16 NN");
  EXPECT_EQ(choose(dense(2048, 2048, 2048)), "cpu.blocked.f32 = 2048x2048x2048 NN");
  EXPECT_EQ(choose(dense(301, 1999, 17)), "cpu.naive.f32 ~ 255x2048x16 NN");
  EXPECT_EQ(choose(dense(1000, 1001, 1003)), "cpu.blocked.f32 ~ 2048x2048x2048 NN");
  // By ratios, not by differences: 500 is nearer to 2048 than to 16.
  EXPECT_EQ(choose(dense(723, 2048, 500)), "cpu.blocked.f32 ~ 2048x2048x2048 NN");
  EXPECT_EQ(choose(dense(0, 2048, 16)), "auto");
}

TEST_F(TunedKernelTest, FarShapesSayNothing) {
  put(dense(2048, 2048, 2048), kNaive);
  EXPECT_EQ(choose(dense(128, 128, 128)), "cpu.naive.f32 ~ 2048x2048x2048 NN");
  EXPECT_EQ(choose(dense(32768, 128, 2048)), "cpu.naive.f32 ~ 2048x2048x2048 NN");
  EXPECT_EQ(choose(dense(127, 2048, 2048)), "auto");
  EXPECT_EQ(choose(dense(2048, 32769, 2048)), "auto");
  EXPECT_EQ(choose(dense(2048, 2048, 127)), "auto");
}

TEST_F(TunedKernelTest, OtherOpsTypesAndDevicesDoNotCount) {
  put(dense_case(Op::kN, Op::kT, 64, 64, 64, DType::kF32), kNaive);
  put(dense(64, 64, 64, DType::kF64), "cpu.naive.f64");
  DeviceKey other = kHere;
  other.commit = "abd";
  put(dense(64, 64, 64), kNaive, other);
  EXPECT_EQ(choose(dense(64, 64, 64)), "auto");
  put(dense(90, 64, 64), kBlocked);
  EXPECT_EQ(choose(dense(64, 64, 64)), "cpu.blocked.f32 ~ 90x64x64 NN");
  EXPECT_EQ(choose(dense(64, 64, 64, DType::kF64)), "cpu.naive.f64 = 64x64x64 NN f64");
}

TEST_F(TunedKernelTest, OfEqualDistanceTheSameFormCounts) {
  Case padded = dense(64, 64, 64);
  padded.desc.a.ld = 100;
  put(dense(64, 64, 64), kNaive);
  EXPECT_EQ(choose(padded), "cpu.naive.f32 ~ 64x64x64 NN");
  put(padded, kBlocked);
  EXPECT_EQ(choose(padded), "cpu.blocked.f32 = 64x64x64 NN (lda 100)");
  Case doubled = padded;
  doubled.desc.a.rows = doubled.desc.c.rows = doubled.m = 128;
  EXPECT_EQ(choose(doubled), "cpu.blocked.f32 ~ 64x64x64 NN (lda 100)");
}

TEST_F(TunedKernelTest, OnlyKernelsThatCanTakeTheCase) {
  cache_.put(kHere, tune_shape(dense(64, 64, 64)),
             shape_of({{"cpu.gone.f32", passed(1e-9)},
                       {"cuda.naive.f32", passed(2e-9)},
                       {kNaive, passed(1e-3)}},
                      "cpu.gone.f32"));
  EXPECT_EQ(choose(dense(64, 64, 64)), "cpu.naive.f32 = 64x64x64 NN");
  put(dense(65, 64, 64), "cpu.gone.f32");
  EXPECT_EQ(choose(dense(65, 64, 64)), "cpu.naive.f32 ~ 64x64x64 NN");
}

}  // namespace
}  // namespace tessera::bench
