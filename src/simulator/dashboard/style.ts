/** The look of the page, in the colours of the reader's system. */
export const style = `
:root { color-scheme: light dark; --text: #1c2430; --soft: #5b6675; --line: #d8dee6; --back: #f6f8fa; --card: #fff; }
.c0 { --c: #1f6feb } .c1 { --c: #c2410c } .c2 { --c: #15803d } .c3 { --c: #7e22ce }
.c4 { --c: #b91c1c } .c5 { --c: #0e7490 } .c6 { --c: #a16207 } .c7 { --c: #be185d }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --soft: #9aa7b4; --line: #30363d; --back: #0d1117; --card: #161b22; }
  .c0 { --c: #58a6ff } .c1 { --c: #ff9b5e } .c2 { --c: #56d364 } .c3 { --c: #bc8cff }
  .c4 { --c: #ff7b72 } .c5 { --c: #39c5cf } .c6 { --c: #e3b341 } .c7 { --c: #f778ba }
}
* { box-sizing: border-box }
body { margin: 0; padding: 1rem; background: var(--back); color: var(--text); font: 15px/1.45 system-ui, sans-serif }
header, main { max-width: 1500px; margin: 0 auto }
h1 { font-size: 1.3rem; margin: 0 } h2 { font-size: 1.05rem; margin: 1.5rem 0 .5rem }
p { margin: .4rem 0 } .soft, .fields, time { color: var(--soft) } h2 .soft { font-weight: normal; font-size: .9rem }
form { display: flex; flex-wrap: wrap; gap: .75rem; margin: .75rem 0 }
input, select, button { font: inherit; padding: .3rem .5rem; max-width: 100% }
.charts { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 420px), 1fr)) }
figure, .card { margin: 0; padding: .75rem; background: var(--card); border: 1px solid var(--line); border-radius: 8px; min-width: 0 }
figcaption { font-weight: 600; overflow-wrap: anywhere }
svg { display: block; width: 100%; height: auto }
svg text { font-size: 13px; fill: var(--soft) } @media (max-width: 600px) { svg text { font-size: 20px } }
.value { text-anchor: end } .time { text-anchor: middle }
.grid { stroke: var(--line) }
.curve { fill: none; stroke: var(--c); stroke-width: 2; vector-effect: non-scaling-stroke; stroke-linecap: round; stroke-linejoin: round }
.legend { list-style: none; margin: .5rem 0 0; padding: 0; font-size: 13px; overflow-wrap: anywhere }
.legend i { display: inline-block; width: 12px; height: 3px; margin-right: 6px; vertical-align: middle; background: var(--c) }
.card { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-size: 14px }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; vertical-align: top; overflow-wrap: break-word }
.tail { list-style: none; margin: 0; padding: 0; font: 13px/1.5 ui-monospace, monospace }
.tail li { padding: .15rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; white-space: pre-wrap }
.tag { font-weight: 600 }
pre { overflow-x: auto; font-size: 13px }
`;
