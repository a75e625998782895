// The look of the HTML report: one style sheet inside the page, light and dark.
#pragma once

namespace tessera::simt {

inline constexpr char kHtmlStyle[] = R"css(
:root {
  color-scheme: light dark;
  --back: #ffffff; --text: #1b1f24; --dim: #57606a; --edge: #d0d7de; --code: #f6f8fa;
  --bad: #b3261e; --bad-back: #fde7e5; --warn: #7a4b00; --warn-back: #fff3d6; --good: #1a6b32;
  --heat: 214, 120, 0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #14171b; --text: #e3e7ec; --dim: #98a2ad; --edge: #353c45; --code: #1b1f25;
    --bad: #ff9a92; --bad-back: #47201f; --warn: #f2c069; --warn-back: #3b2e14; --good: #6fd08c;
    --heat: 235, 150, 30;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 76rem; background: var(--back);
  color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; border-bottom: 1px solid var(--edge); }
p { margin: .3rem 0; }
code, pre, .source { font: 13px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
.verdict { font-weight: 600; } .failed { color: var(--bad); } .passed { color: var(--good); }
.dim { color: var(--dim); }
ul { padding-left: 1.3rem; margin: .3rem 0; }
a { color: inherit; }
table { border-collapse: collapse; margin: .3rem 0; font-size: 13px; }
th, td { padding: .1rem .6rem; border-bottom: 1px solid var(--edge); text-align: left;
  vertical-align: top; }
th { color: var(--dim); font-weight: 600; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
.source { border: 1px solid var(--edge); background: var(--code); overflow-x: auto; padding: .4rem 0; }
.row { display: flex; min-width: max-content; white-space: pre; tab-size: 4; border-left: 4px solid transparent; }
.row .line { flex: 0 0 4.5em; text-align: right; padding-right: 1em; color: var(--dim);
  user-select: none; }
.row .mark { flex: 0 0 1.2em; user-select: none; }
.row.finding { background: var(--bad-back); border-left-color: var(--bad); }
.row.other { border-left-color: var(--bad); }
.row.warning { border-left-color: var(--warn); }
details.under { margin: 0 0 0 5.7em; padding: 0 .8rem .2rem 0; font-size: 13px; }
details.under > summary { color: var(--dim); cursor: pointer; }
details.finding > summary { color: var(--bad); font-weight: 600; }
details.warning > summary { color: var(--warn); font-weight: 600; }
details.under p { max-width: 60rem; font-family: system-ui, sans-serif; white-space: normal; }
.swatch { display: inline-block; width: 1.6em; height: 1em; vertical-align: -0.15em;
  border: 1px solid var(--edge); margin-right: .4em; }
.swatch.red { background: var(--bad-back); border-left: 4px solid var(--bad); }
.heat0 { background: rgba(var(--heat), .06); } .heat1 { background: rgba(var(--heat), .18); }
.heat2 { background: rgba(var(--heat), .32); } .heat3 { background: rgba(var(--heat), .5); }
@media print { details.under { break-inside: avoid; } body { max-width: none; } }
)css";

}  // namespace tessera::simt
