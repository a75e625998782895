// `tessera report`: charts and a page from results files.
#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <set>

#include "args.h"
#include "bench/chart.h"
#include "bench/gnuplot.h"
#include "cli.h"
#include "io/message.h"
#include "quantities.h"
#include "report_page.h"
#include "text_file.h"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;

struct ReportArgs {
  std::vector<std::string> files;
  std::string directory;
  bool no_charts = false;
};

void make_directory(const std::string& path) {
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_directory(path, error)) {
    io::output_failure("--output " + path, "is a file: the report is a directory");
  }
  fs::create_directories(path, error);
  if (error) io::output_failure("--output " + path, "cannot be made: " + error.message());
}

/// By its first bytes: what a gnuplot that is none wrote must not get into the page.
bool is_image(const std::string& bytes, bench::ImageFormat format) {
  const std::string_view start =
      format == bench::ImageFormat::kSvg ? "<?xml" : std::string_view("\x89PNG\r\n\x1a\n", 8);
  return bytes.compare(0, start.size(), start) == 0;
}

/// Draws one variant into DIR; returns the image.
std::string draw(const std::string& path, const bench::Chart& chart, bench::Theme theme,
                 bench::ImageFormat format) {
  std::string image = bench::run_gnuplot(bench::chart_script(chart, theme, format));
  if (!is_image(image, format)) io::output_failure(path, "what gnuplot wrote is no image");
  write_text_file(path, image);
  return image;
}

class Report {
 public:
  explicit Report(const ReportArgs& args) : args_(args) {}

  int run() {
    for (const std::string& file : args_.files)
      sections_.push_back({bench::read_results(file), {}, {}});
    make_directory(args_.directory);
    const std::string missing = bench::gnuplot_missing();
    for (ReportSection& section : sections_) {
      if (args_.no_charts) {
        section.notes.push_back("charts: left out, as asked for");
      } else if (!missing.empty()) {
        section.notes.push_back("charts: left out: " + missing);
      } else {
        draw_all(section);
      }
    }
    write_text_file(path_of("index.html"), report_page(sections_, version_line()));
    say();
    if (!fault_.empty()) {
      throw Error(ErrorCode::kOutputFailure,
                  fmt::format("{}; the tables are in {}", fault_, path_of("index.html")));
    }
    if (missing.empty()) return kOk;
    if (!args_.no_charts) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("{}; the tables are in {}", missing, path_of("index.html")));
    }
    fmt::print(stderr, "tessera report: {}\n", printable(missing));
    return kOk;
  }

 private:
  std::string path_of(const std::string& name) const { return args_.directory + "/" + name; }

  /// Names of several files' charts begin with the file's own.
  std::string unique_name(const std::string& chart, const std::string& file) {
    std::string name = chart;
    if (args_.files.size() > 1) name = safe(fs::path(file).stem().string()) + "-" + chart;
    std::string free = name;
    for (int i = 2; !names_.insert(free).second; ++i) free = fmt::format("{}-{}", name, i);
    return free;
  }

  static std::string safe(const std::string& stem) {
    std::string out;
    for (const char c : stem.substr(0, 80)) {
      const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
      out += plain ? c : '_';
    }
    return out;
  }

  /// All four images of a chart.
  DrawnChart draw_one(const bench::Chart& chart, const std::string& name) const {
    DrawnChart drawn{name, chart.alt, chart.width, chart.height, "", ""};
    for (const bench::Theme theme : {bench::Theme::kLight, bench::Theme::kDark}) {
      const bool light = theme == bench::Theme::kLight;
      const std::string path = path_of(name + (light ? "" : "-dark"));
      (light ? drawn.svg_light : drawn.svg_dark) =
          draw(path + ".svg", chart, theme, bench::ImageFormat::kSvg);
      draw(path + ".png", chart, theme, bench::ImageFormat::kPng);
    }
    return drawn;
  }

  /// A chart that cannot be drawn does not cost the tables.
  void draw_all(ReportSection& section) {
    const bench::Charts charts = bench::charts_of(section.file);
    section.notes = charts.left_out;
    for (const bench::Chart& chart : charts.charts) {
      try {
        section.charts.push_back(draw_one(chart, unique_name(chart.name, section.file.path)));
      } catch (const Error& e) {
        section.notes.push_back(fmt::format("{}: {}", chart.name, e.what()));
        if (fault_.empty()) fault_ = e.what();
      }
    }
  }

  void say() const {
    for (const ReportSection& section : sections_) {
      for (const DrawnChart& chart : section.charts) {
        fmt::print("{}{{,-dark}}.{{svg,png}}\n", printable(path_of(chart.name)));
      }
      for (const std::string& note : section.notes) fmt::print("{}\n", printable(note));
    }
    fmt::print("{}\n", printable(path_of("index.html")));
  }

  const ReportArgs& args_;
  std::vector<ReportSection> sections_;
  std::set<std::string> names_;
  std::string fault_;  ///< the first chart that could not be drawn
};

}  // namespace

Verb add_report(CLI::App& root) {
  CLI::App* app = root.add_subcommand("report", "charts and a page from results of bench");
  const auto args = std::make_shared<ReportArgs>();
  app->add_option("FILES", args->files, "what `bench --json-file` or `ladder --json` wrote")
      ->type_name("FILE")
      ->required();
  add_file(*app, "-o,--output", args->directory, "directory of the report, made if need be")
      ->required();
  app->add_flag("--no-charts", args->no_charts, "the page with its tables only; needs no gnuplot");
  app->footer(
      "Writes index.html, which needs no other file, and each chart as SVG and PNG in a light and\n"
      "a dark variant. Charts are drawn by gnuplot; without it the page is written and the exit\n"
      "code is 4.\n\n"
      "Examples:\n"
      "  tessera report results.json -o report\n"
      "  tessera report bench/results/*.json -o report --no-charts\n");
  return {app, [args] { return Report(*args).run(); }};
}

}  // namespace tessera::cli
