"""Style and script of the evidence page. Constants only.

The style also corrects pytest-html's own (a fixed width of 800 px, grey text, no dark mode). Colours have a contrast of
at least 4.5 to their background in both modes; a test computes it.
"""

from __future__ import annotations

VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1">'

LIGHT = {
    "bg": "#ffffff", "fg": "#1b1f24", "soft": "#57606a", "card": "#f3f5f7", "line": "#c9d1d9", "link": "#0550ae",
    "pass": "#116329", "fail": "#a40e26", "unknown": "#7a4300", "other": "#4b535d", "on": "#ffffff",
    "rehearsal": "#5a1e9e", "bar": "#0969da",
}  # fmt: skip
DARK = {
    "bg": "#0d1117", "fg": "#e6edf3", "soft": "#a3adb8", "card": "#161b22", "line": "#3d444d", "link": "#79b8ff",
    "pass": "#7ee2a0", "fail": "#ffa198", "unknown": "#f2cc60", "other": "#b1bac4", "on": "#0d1117",
    "rehearsal": "#d6b4ff", "bar": "#58a6ff",
}  # fmt: skip


def _variables(colours: dict[str, str]) -> str:
    return "".join(f"--{name}:{colour};" for name, colour in colours.items())


STYLE = (
    f":root{{color-scheme:light dark;{_variables(LIGHT)}}}"
    f"@media (prefers-color-scheme:dark){{:root{{{_variables(DARK)}}}}}"
    """
body{min-width:0;max-width:72rem;margin:0 auto;padding:.75rem;background:var(--bg);color:var(--fg);
 font:15px/1.5 system-ui,sans-serif}
body h1,body h2,body p,body td,body th,body li,body label{color:var(--fg);overflow-wrap:anywhere}
body h1{font-size:1.4rem;line-height:1.25} body h2{font-size:1.2rem;margin:1.5rem 0 .5rem}
body a{color:var(--link)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
#environment-header,#environment{display:none}
#amap *{box-sizing:border-box}
#amap [id]{scroll-margin-top:4rem}
#amap h3{font-size:1rem;margin:0} #amap h4{font-size:.95rem;margin:.25rem 0} #amap h5{font-size:.85rem;margin:.5rem 0 0}
#amap p{margin:.35rem 0}
#amap code,#amap pre{font-family:ui-monospace,monospace;font-size:.85rem;overflow-wrap:anywhere}
#amap pre{white-space:pre-wrap;background:var(--card);color:var(--fg);border:1px solid var(--line);margin:.25rem 0;
 padding:.4rem .5rem}
#amap .amap-line{user-select:all} #amap .amap-output{max-height:24rem;overflow:auto}
#amap summary{cursor:pointer;color:var(--link);padding:.25rem 0}
.amap-rehearsal{position:sticky;top:0;z-index:2;padding:.5rem .75rem;border:3px double var(--on)}
body .amap-rehearsal{background:var(--rehearsal);color:var(--on)}
.amap-rehearsal strong{letter-spacing:.15em;font-size:1.15rem;margin-right:.5rem}
.amap-banner{border:1px solid var(--line);border-left:.6rem solid var(--other);background:var(--card);
 padding:.5rem .75rem}
.amap-on-pass{border-left-color:var(--pass)} .amap-on-fail{border-left-color:var(--fail)}
.amap-on-unknown{border-left-color:var(--unknown)}
.amap-verdict{font-size:1.15rem;font-weight:600}
.amap-banner nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1rem;list-style:none;padding:0;margin:.5rem 0 0}
.amap-badge{display:inline-block;white-space:nowrap;padding:0 .5em;border-radius:.25em;font-weight:700;font-size:.85rem;
 background:var(--other);color:var(--on)}
.amap-pass,.amap-done,.amap-already{background:var(--pass)}
.amap-fail,.amap-failed,.amap-refused{background:var(--fail)}
.amap-unknown{background:var(--unknown)}
.amap-table{border-collapse:collapse;width:100%;background:var(--bg)}
.amap-table caption{text-align:left;color:var(--soft);padding:.25rem 0}
.amap-table th,.amap-table td{border:1px solid var(--line);padding:.4rem .5rem;text-align:left;vertical-align:top}
.amap-table th{background:var(--card);white-space:nowrap}
.amap-checks td:first-child{width:6.5rem}
.amap-scroll{overflow-x:auto} .amap-scroll td{overflow-wrap:break-word}
.amap-parts{list-style:none;padding:0} .amap-parts>li{border-top:1px solid var(--line);padding:.4rem 0}
#amap dl{display:grid;grid-template-columns:5.5rem 1fr;margin:.25rem 0} #amap dt{color:var(--soft)}
#amap dd{margin:0;white-space:pre-wrap;overflow-wrap:anywhere}
.amap-records{font-size:.85rem;color:var(--soft)}
.amap-command{border-top:1px solid var(--line);padding:.4rem 0}
.amap-ended{color:var(--pass);font-weight:600} .amap-ended-badly{color:var(--fail);font-weight:600}
.amap-bars{list-style:none;padding:0} .amap-bars li{padding:.2rem 0}
.amap-bar{display:block;height:.5rem;min-width:2px;background:var(--bar)}
#amap-filters{border:1px solid var(--line);margin:0 0 .5rem;display:flex;flex-wrap:wrap;gap:.25rem 1rem}
#amap-filters[hidden]{display:none}
body button,body .collapse button{font:inherit;color:var(--link);background:var(--card);border:1px solid var(--line);
 border-radius:.25em}
#results-table{color:var(--fg);border-color:var(--line);font-size:.9rem}
#results-table th,#results-table td{border-color:var(--line)}
#results-table .col-result,.summary .filters span{color:var(--fg)} .log span.error{color:var(--fail)}
#results-table .amap-pass,#results-table .amap-fail,#results-table .amap-unknown{color:var(--on);font-weight:700}
.logwrapper,.logwrapper .log,.logwrapper .logexpander{background:var(--card);color:var(--fg);border-color:var(--line)}
.controls,.filters,.collapse{flex-wrap:wrap}
@media (max-width:50rem){#results-table{display:block;overflow-x:auto}}
@media (max-width:30rem){#amap dl{grid-template-columns:1fr} #amap [id]{scroll-margin-top:7rem}
 .amap-checks thead{display:none} #amap .amap-checks td{display:block;width:auto}
 #amap .amap-checks td+td{border-top:0} #amap .amap-checks td:first-child{border-bottom:0}}
@media print{.amap-rehearsal{position:static} #amap-filters{display:none}}
"""
)

SCRIPT = """
addEventListener('DOMContentLoaded', () => {
  document.documentElement.lang = 'en';
  for (const box of document.querySelectorAll('input.filter')) {
    box.setAttribute('aria-label', box.nextElementSibling.textContent);
  }
  const filters = document.getElementById('amap-filters');
  const boxes = [...filters.querySelectorAll('.amap-filter')];
  const rows = [...document.querySelectorAll('#amap-checks tr[data-outcome]')];
  const show = () => {
    const wanted = boxes.filter(box => box.checked).map(box => box.value);
    for (const row of rows) row.hidden = !wanted.includes(row.dataset.outcome);
    const shown = rows.filter(row => !row.hidden).length;
    document.getElementById('amap-shown').textContent = shown + ' of ' + rows.length + ' shown';
  };
  for (const box of boxes) box.addEventListener('change', show);
  for (const button of filters.querySelectorAll('button')) {
    button.addEventListener('click', () => {
      for (const row of rows) row.querySelector('details').open = Boolean(button.dataset.open);
    });
  }
  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (!target) return;
    target.hidden = false;
    for (const inside of target.querySelectorAll(':scope > td > details')) inside.open = true;
    for (let at = target; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true;
    target.scrollIntoView();
  };
  addEventListener('hashchange', reveal);
  filters.hidden = false;
  show();
  reveal();
});
"""
