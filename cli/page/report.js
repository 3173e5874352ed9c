'use strict';
/* Draws the report. All guest text goes through textContent or canvas text: nothing is ever parsed as HTML. */
const $ = id => document.getElementById(id);
const PARTS = { /* colours: Okabe and Ito's, and Tol's, which differ also for colour-blind readers */
  issue:'#0072b2', units:'#56b4e9', latency:'#88ccee', shared:'#44aa99', l1:'#117733', l2:'#999933', dram:'#d55e00',
  atomics:'#cc79a7', barriers:'#f0e442', fetch:'#aa4499', log:'#ddcc77', quantum:'#e69f00', commit:'#882255', serial:'#cc3311',
  turns:'#ddaa33', full:'#ee8866', flush:'#aa3377', launch:'#bbbbbb', imbalance:'#dddddd' };
const ABOUT = { issue:'instructions are issued', units:'the functional unit is busy', latency:'result of arithmetic',
  l1:'L1', l2:'L2', dram:'DRAM', shared:'shared memory', atomics:'atomics', barriers:'barriers', fetch:'instruction cache',
  imbalance:'no warps left on the scheduler', launch:'start of the launch or of a CTA', log:'GPUDet: search of the write log',
  quantum:'GPUDet: end of parallel mode', commit:'GPUDet: commit mode', serial:'atomics one after another',
  turns:'DAB: the warp\'s turn', full:'DAB: the buffer is full', flush:'DAB: flush' };
const METRICS = { instructions:['warp instructions / cycle','SM'], thread_instructions:['thread instructions / cycle','SM'], lanes:['active lanes of a warp instruction','SM'], resident:['resident warps','SM'], l1_hits:['L1 sectors hit / cycle','SM'],
  l1_misses:['L1 sectors missed / cycle','SM'], lines:['warp instructions / cycle of source lines','line'], l2_sectors:['L2 sectors / cycle','slice'], l2_misses:['L2 sectors missed / cycle','slice'], l2_queue:['requests that wait for L2','slice'], dram_sectors:['DRAM sectors / cycle','channel'] };
const COUNT = new Intl.NumberFormat('en', {maximumFractionDigits:0});
const count = x => COUNT.format(x);
const real = (x, n = 3) => x === 0 ? '0' : Math.abs(x) >= 1000 ? count(x) : x.toPrecision(n).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
const percent = x => (100 * x).toFixed(1) + ' %';
let data, races = new Map(), view = {launch:0, metric:'instructions', from:0, to:0}, charts = [];
const RUN_COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9'];

function el(name, text, cls) {
  const e = document.createElement(name);
  if (text !== undefined && text !== null) e.textContent = text;
  if (cls) e.className = cls;
  return e;
}
function table(heads, rows, cls) {
  const t = el('table', null, cls), head = t.createTHead().insertRow(), body = t.createTBody();
  for (const h of heads) { const th = el('th', h.name, h.text ? 'text' : ''); if (h.help) th.title = h.help; head.append(th); }
  for (const r of rows) {
    const tr = body.insertRow();
    r.forEach((c, i) => {
      const td = tr.insertCell();
      if (heads[i].text) td.className = ['', 'text', 'name', 'text prose'][heads[i].text];
      if (c instanceof Node) td.append(c); else td.textContent = c;
      if (heads[i].text === 2) td.title = td.textContent;
    });
  }
  return t;
}
function put(section, ...nodes) { const b = document.querySelector('#' + section + ' .body'); b.replaceChildren(...nodes); return b; }
const runName = r => (r.file ? r.file + ': ' : '') + r.gpu + ', ' + r.order;
const total = (r, key) => r.launches.reduce((s, l) => s + l[key], 0);

/* ---- tables -------------------------------------------------------------------------------------------- */
function bar(parts, all) {
  const s = el('span', null, 'parts');
  for (const p in PARTS) {
    if (!(parts[p] > 0)) continue;
    const i = el('i'); i.style.width = 100 * parts[p] / all + '%'; i.style.background = PARTS[p];
    i.title = p + ': ' + percent(parts[p] / all) + ' (' + ABOUT[p] + ')'; s.append(i);
  }
  return s;
}
function sumParts(launches) { const s = {}; for (const l of launches) for (const p in l.parts) s[p] = (s[p] || 0) + l.parts[p]; return s; }
function legend(names) {
  const d = el('div', null, 'legend');
  for (const p in PARTS) if (names.has(p)) { const s = el('span'), b = el('b'); b.style.background = PARTS[p]; s.title = ABOUT[p]; s.append(b, p); d.append(s); }
  return d;
}
function usedParts() { const n = new Set(); for (const r of data.runs) for (const l of r.launches) for (const p in l.parts) n.add(p); return n; }
function drawRuns() {
  const first = data.runs[0] ? total(data.runs[0], 'cycles') : 0, firstUs = data.runs[0] ? total(data.runs[0], 'us') : 0;
  put('runs', table([{name:'GPU', text:1}, {name:'order', text:1}, {name:'launches'}, {name:'cycles'}, {name:'µs'}, {name:'cycles, relative'}, {name:'time, relative'}, {name:'what schedulers do', text:1}],
    data.runs.map(r => { const c = total(r, 'cycles'), u = total(r, 'us'); return [r.title ? r.gpu + ' (' + r.title + ', ' + r.sms + ' SMs, ' + real(r.mhz, 4) + ' MHz)' : r.gpu, r.order, count(r.launches.length), count(c), real(u, 5), real(c / first), real(u / firstUs), bar(sumParts(r.launches), c)]; })), legend(usedParts()));
}
const MEANS = { deterministic:'All runs under all orders gave one and the same result.', 'deterministic under some orders':'Results differ, but each order that guarantees one result gave one.',
  nondeterministic:'Results differ, and no order that guarantees one result was tried, or one did not give it.', racy:'There are data races, whatever the results. A run under one order may still have one result.',
  'undefined behaviour':'It reads memory that nothing wrote, or misuses synchronisation, whatever the results.', 'varies by itself':'The native runs of the program differ already, so orders tell nothing.',
  'broken guarantee':'An order that guarantees one result gave several: a bug of Heddle.', failed:'A run failed, or the search for races did.', unknown:'Nothing was run, or too little before an interrupt.' };
/* Places "(file:line)" of a finding, whose line is a link to the source if the page has it. */
const PLACE = /\(([^()]+):(\d+)\)$/;
function placeOf(text) { const m = PLACE.exec(text); return m && data.runs.some(r => r.launches.some(l => l.lines.some(n => n.file === m[1]))) ? {file:m[1], line:+m[2]} : null; }
function findingLines(text) {
  const d = el('div', null, 'finding');
  for (const line of text.split('\n')) {
    const p = placeOf(line), row = el('div', line || ' ');
    if (p) { const a = el('a', p.file + ':' + p.line); a.href = '#source'; a.onclick = e => { e.preventDefault(); showLine(p.file, p.line); }; row.textContent = line.replace(PLACE, '('); row.append(a, ')'); }
    d.append(row);
  }
  return d;
}
/* Of each place how many findings name it: a finding has two places, and says how many more are like it. */
function countRaces() {
  const at = new Map(), text = data.races ? [data.races.messages || ''].flat().concat((data.races.findings || []).map(f => f.text || '')).join('\n') : '';
  for (const one of text.split(/^(?=race: )/m)) {
    if (!one.startsWith('race: ')) continue;
    const more = /and (\d+) more of this/.exec(one), keys = new Set(one.split('\n').map(placeOf).filter(p => p).map(p => p.file + '\n' + p.line));
    for (const k of keys) at.set(k, (at.get(k) || 0) + 1 + (more ? +more[1] : 0));
  }
  return at;
}
function drawVerdicts() {
  const nodes = [];
  if (data.check) {
    const c = data.check, good = c.exit_status === 0;
    nodes.push(el('h3', 'Is there one result? (heddle check)'), el('p', c.verdict, good ? 'good' : 'bad'), el('p', MEANS[c.verdict] || '', 'note'));
    nodes.push(table([{name:'order', text:1}, {name:'runs'}, {name:'results'}, {name:'at the end'}, {name:'failed'}, {name:'first difference', text:1}], c.orders.map(o => [o.order, o.runs, el('span', o.distinct, o.distinct > 1 ? 'bad' : 'good'), o.distinct_at_the_end, o.failed.length, o.first_difference ? 'launch ' + ((o.first_difference.launch ?? 0)) + (o.first_difference.kernel ? ' (' + o.first_difference.kernel + ')' : '') : ''])));
  }
  if (data.races) {
    const r = data.races, lists = (r.launches || []).map(l => l.findings), list = lists.filter(Array.isArray).flat().concat(Array.isArray(r.findings) ? r.findings : []);
    const n = lists.reduce((sum, f) => sum + (typeof f === 'number' ? f : Array.isArray(f) ? f.length : 0), 0) + (Array.isArray(r.findings) ? r.findings.length : 0);
    nodes.push(el('h3', 'Data races (heddle run --check race)'), el('p', n ? n + (n > 1 ? ' findings' : ' finding') + ' in all launches' : r.status === 'ok' || r.exit_status === 0 ? 'none found in this run' : 'the run ended with status ' + r.exit_status, n || r.exit_status ? 'bad' : 'good'));
    const s = el('div', null, 'scroll');
    for (const f of list) if (f.text) s.append(findingLines(f.text));
    if (r.messages) for (const one of [r.messages].flat().join('\n').trimEnd().split(/^(?=race: )/m)) s.append(findingLines(one.trimEnd()));
    nodes.push(s);
  }
  $('verdicts').hidden = !nodes.length;
  put('verdicts', ...nodes);
}
function drawCompare() {
  $('compare').hidden = data.runs.length < 2;
  if (data.runs.length < 2) return;
  const most = Math.max(...data.runs.map(r => r.launches.length)), rows = [], heads = [{name:'launch'}, {name:'kernel', text:2}];
  data.runs.forEach((r, i) => { heads.push({name:runName(r), help:'cycles'}); if (i) heads.push({name:'×', help:'relative to ' + runName(data.runs[0])}); heads.push({name:'parts', text:1}); });
  for (let k = 0; k < most && rows.length < 400; k++) {
    const all = data.runs.map(r => r.launches[k]), name = all.find(l => l);
    if (!matches(name.kernel)) continue;
    const row = [k, name.kernel];
    all.forEach((l, i) => {
      const same = l && l.kernel === name.kernel;
      row.push(l ? count(l.cycles) + (same ? '' : ' (' + l.kernel + ')') : 'no launch');
      if (i) row.push(l && all[0] ? real(l.cycles / all[0].cycles) : '');
      row.push(l ? bar(l.parts, l.cycles) : '');
    });
    rows.push(row);
  }
  const s = el('div', null, 'scroll'), t = table(heads, rows); pickable(t, rows.map(r => r[0])); s.append(t);
  put('compare', el('p', 'Launches are aligned by their number. A launch with another kernel is named.', 'note'), s);
}
function pickable(t, numbers) {
  [...t.tBodies[0].rows].forEach((tr, i) => { tr.classList.add('pick'); tr.dataset.launch = numbers[i]; tr.onclick = () => choose(+numbers[i]); });
}
let sortBy = ['number', 1];
const COLUMNS = [['number','launch'],['kernel','kernel'],['grid','grid'],['block','block'],['cycles','cycles'],['us','µs'],['interval','8 of 10 within'],['ipc','IPC'],['most','most'],['warp_instructions','warp instructions'],['warnings','notes']];
const matches = text => { const q = $('search').value.toLowerCase(); return !q || String(text).toLowerCase().includes(q); };
function drawLaunches() {
  const nodes = [];
  for (const r of data.runs) {
    const notes = [...new Set(r.launches.flatMap(l => l.warnings))];
    const list = r.launches.filter(l => matches(l.kernel)).sort((a, b) => { const x = a[sortBy[0]], y = b[sortBy[0]]; return (x < y ? -1 : x > y ? 1 : a.number - b.number) * sortBy[1]; });
    const shown = list.slice(0, 1000);
    const t = table([...COLUMNS.map(c => ({name:c[1], text:c[0] === 'kernel' ? 2 : c[0] === 'most' || c[0] === 'warnings' ? 1 : 0, help:c[0] === 'ipc' ? 'thread instructions per cycle of the whole GPU' : c[0] === 'interval' ? 'cycles: 8 of 10 measured launches lay so around their estimates' : ''})), {name:'parts', text:1}],
      shown.map(l => [l.number, l.kernel, l.grid.join('×').replace(/(×1)+$/, ''), l.block.join('×').replace(/(×1)+$/, ''), count(l.cycles), real(l.us, 4), l.high ? count(l.low) + '–' + count(l.high) : 'unknown', l.ipc.toFixed(1), l.most, count(l.warp_instructions), Object.assign(el('span', l.warnings.map(w => notes.indexOf(w) + 1).sort((a, b) => a - b).join(', ')), {title:l.warnings.join('\n')}), bar(l.parts, l.cycles)]));
    [...t.tHead.rows[0].cells].forEach((th, i) => { if (!COLUMNS[i]) return; th.classList.add('sort'); if (COLUMNS[i][0] === sortBy[0]) th.textContent += sortBy[1] > 0 ? ' ▲' : ' ▼'; th.onclick = () => { sortBy = [COLUMNS[i][0], sortBy[0] === COLUMNS[i][0] ? -sortBy[1] : COLUMNS[i][0] === 'kernel' || i === 0 ? 1 : -1]; drawLaunches(); }; });
    pickable(t, shown.map(l => l.number));
    const s = el('div', null, 'scroll'); s.append(t);
    nodes.push(el('h3', runName(r)), s);
    if (list.length > shown.length) nodes.push(el('p', count(list.length - shown.length) + ' more launches are not shown; search for a kernel', 'note'));
    notes.forEach((n, i) => nodes.push(el('p', 'note ' + (i + 1) + ': ' + n, 'note tight')));
  }
  put('launches', ...nodes); mark();
}
function mark() { for (const tr of document.querySelectorAll('tr.pick')) tr.classList.toggle('chosen', +tr.dataset.launch === view.launch); }

/* ---- over time ------------------------------------------------------------------------------------------ */
function bytes(text) { const s = atob(text), b = new Uint8Array(s.length); for (let i = 0; i < s.length; i++) b[i] = s.charCodeAt(i); return b; }
const dark = () => document.documentElement.classList.contains('dark');
function ramp(x) { /* 0: background; light theme: darker is more; dark theme: brighter is more. Even steps of lightness. */
  const stops = dark() ? [[16,20,24],[38,53,110],[52,112,160],[92,177,163],[253,231,100]] : [[255,255,255],[187,214,235],[99,160,203],[31,95,160],[8,29,88]];
  const k = Math.min(3, Math.floor(4 * x)), f = 4 * x - k, a = stops[k], b = stops[k + 1];
  return [0, 1, 2].map(i => Math.round(a[i] + (b[i] - a[i]) * f));
}
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
/* What the end of the ramp stands for: 99 of 100 cells that are not empty are at most so much. A few cells would make all others pale. */
function topOf(m) {
  if (m.top) return m.top;
  const n = new Uint32Array(256); let all = 0, v = 255;
  for (const x of cellsOf(m)) if (x) n[x]++, all++;
  for (let above = 0; v > 1 && above + n[v] <= all / 100; v--) above += n[v];
  return m.top = v / 255 * m.most;
}
function cellsOf(m) { if (!m.raw) m.raw = bytes(m.cells); return m.raw; }
function metricOf(l) { return l.lapse && l.lapse.maps[view.metric]; }
function rowName(t, unit, r) { return unit === 'SM' ? 'SM ' + t.sms[r] : unit === 'line' ? t.hot_lines[r].file.split('/').pop() + ':' + t.hot_lines[r].line : unit + ' ' + r; }
function shorter(text, most) { return text.length > most ? '…' + text.slice(1 - most) : text; }
function labelOf(metric) { return METRICS[metric] ? METRICS[metric] : [metric + ': schedulers of the SM (' + ABOUT[metric] + ')', 'SM']; }

/* Charts over time. uPlot draws axes, lines and areas, the crosshair, which all charts share, and the selection; the cells of the
 * heat map are painted into the frame of a uPlot chart without series. All show the cycles view.from to view.to. */
const LEFT = 78, RIGHT = 12, AXIS = 26, LABEL = 18;
let width = 300, paper = false; /* of all charts: asked once, since each question lays out the page */
const PAPER = 1000; /* the style sheet makes it as wide as the paper */
const measure = () => { width = paper ? PAPER : Math.max(300, $('time').clientWidth); };
function chart(at, o) {
  const text = {stroke:() => css('--dim'), font:'12px system-ui, sans-serif', labelFont:'12px system-ui, sans-serif', labelGap:0, gap:4, grid:{show:false}, ticks:{stroke:() => css('--line'), width:1, size:4}};
  const u = new uPlot({
    width, height:o.height, padding:[o.top, RIGHT, 2, 0], legend:{show:false}, series:[{}, ...o.series], cursor:{
      sync:{key:'time', scales:['x', null]}, drag:{x:true, y:false, setScale:false, dist:4}, points:{show:false}, y:false, bind:{dblclick:() => () => zoom(0, 0)} },
    scales:{x:{time:false, range:() => [view.from, view.to]}, y:{dir:o.down ? -1 : 1, range:() => [0, o.most()]}},
    axes:[{...text, size:AXIS, space:90, values:(_, s) => s.map(count), ...(o.last ? {label:'cycles of the SM', labelSize:LABEL} : {})}, {...text, size:LEFT - LABEL, labelSize:LABEL, label:o.label || ' ', ...o.rows}],
    hooks:{drawClear:[u => inside(u, g => { g.fillStyle = css('--bg'); g.fillRect(0, 0, g.canvas.width, g.canvas.height); })],
      draw:[u => inside(u, g => { if (o.paint) o.paint(u, g, devicePixelRatio || 1); const b = u.bbox; g.setLineDash([]); g.strokeStyle = css('--line'); g.lineWidth = 1; g.strokeRect(b.left - .5, b.top - .5, b.width + 1, b.height + 1); })],
      setCursor:[u => { if (u.cursor.event) tip(u, o); }],
      setSelect:[u => { const s = u.select; if (u.cursor.event && s.width) { const a = u.posToVal(s.left, 'x'), b = u.posToVal(s.left + s.width, 'x'); for (const c of charts) c.u.setSelect({left:0, top:0, width:0, height:0}, false); zoom(a, b); } }] }
  }, o.data(width - LEFT - RIGHT), at);
  u.root.setAttribute('role', 'img'); u.root.setAttribute('aria-label', o.about);
  charts.push({u, o});
}
/* uPlot remembers what it has set in the context: it is to be found again. */
function inside(u, paint) { u.ctx.save(); paint(u.ctx); u.ctx.restore(); }
function redraw() { measure(); for (const c of charts) { if (width !== c.u.width) c.u.setSize({width, height:c.o.height}); c.u.setData(c.o.data(width - LEFT - RIGHT)); } }

/* Of a list of sums by interval: what the first i intervals have. A mean over any time follows from two of these. */
function prefixOf(t, list) { const p = new Float64Array(t.intervals + 1); for (let i = 0; i < t.intervals; i++) p[i + 1] = p[i] + list[i]; return p; }
function sumUntil(t, prefix, x) { const i = Math.min(t.intervals - 1, Math.floor(x / t.interval)), a = i * t.interval, b = Math.min(t.cycles, a + t.interval); return x >= t.cycles ? prefix[t.intervals] : prefix[i] + (prefix[i + 1] - prefix[i]) * (x - a) / (b - a); }
/* Ends of what a pixel, or an interval if it is longer, stands for; and the end of each run. */
function edges(lapses, pixels) {
  const step = Math.max(Math.min(...lapses.map(t => t.interval)), (view.to - view.from) / pixels), list = [view.from];
  for (let k = Math.floor(view.from / step) + 1; k * step < view.to; k++) list.push(k * step);
  for (const t of lapses) if (t.cycles > view.from && t.cycles < view.to) list.push(t.cycles);
  return [...new Set(list), view.to].sort((a, b) => a - b);
}
/* `each`: by what sums are divided beside time, or the prefix of what they are divided by in place of time; null where that is nothing. */
function means(t, prefix, each, at) {
  const y = at.map((a, i) => {
    const b = Math.min(at[i + 1], t.cycles), d = typeof each === 'number' ? (b - a) * each : b > a ? sumUntil(t, each, b) - sumUntil(t, each, a) : 0;
    return d > 1e-9 ? (sumUntil(t, prefix, b) - sumUntil(t, prefix, a)) / d : null;
  });
  const end = at.findIndex(x => x >= t.cycles); /* the last step ends here */
  if (end > 0) y[end] = y[end - 1]; else if (end < 0) y[y.length - 1] = y[y.length - 2];
  return y;
}
const stepped = uPlot.paths.stepped({align:1, alignGaps:1});

/* The mean of the rows of a metric, exact where the document has sums. */
function lineOf(l) {
  const t = l.lapse, m = metricOf(l);
  if (!m) return null;
  if (!t.lines) t.lines = {};
  if (t.lines[view.metric]) return t.lines[view.metric];
  let sums = view.metric === 'lanes' ? t.sums.thread_instructions : t.sums[view.metric] || t[view.metric];
  if (!Array.isArray(sums)) {
    const raw = cellsOf(m); sums = new Float64Array(t.intervals);
    for (let r = 0; r < m.rows; r++) for (let i = 0; i < t.intervals; i++) sums[i] += raw[r * t.intervals + i] / 255 * m.most * t.interval;
  }
  const by = view.metric === 'lanes' && prefixOf(t, t.sums.instructions);
  let most = 0; const each = i => by ? (t.sums.instructions[i] ? sums[i] / t.sums.instructions[i] : 0) : sums[i] / Math.min(t.interval, t.cycles - i * t.interval) / m.rows;
  for (let i = 0; i < t.intervals; i++) most = Math.max(most, each(i));
  const prefix = prefixOf(t, sums);
  return t.lines[view.metric] = {t, prefix, by:by || m.rows, most, each, mean:prefix[t.intervals] / (by ? by[t.intervals] : t.cycles * m.rows)};
}
const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3], [14, 4], [4, 4]];
function drawLines(at, some) {
  const lines = some.map(({l, r, i}) => ({r, i, n:lineOf(l)})).filter(x => x.n), unit = labelOf(view.metric), key = el('div', null, 'legend');
  if (!lines.length) return;
  let top;
  const about = x => runName(x.r) + ': mean ' + real(x.n.mean) + ', at most ' + real(x.n.most);
  for (const x of lines) { const s = el('span'), v = svg('svg', {width:34, height:10}); v.append(svg('line', {x1:0, x2:34, y1:5, y2:5, stroke:RUN_COLOURS[x.i % 6], 'stroke-width':2, 'stroke-dasharray':DASHES[x.i % 6].join(' ')})); s.append(v, ' ' + about(x)); key.append(s); }
  at.append(el('h3', unit[0] + ', mean of the ' + unit[1] + 's below'), key);
  chart(at, {height:150 + AXIS, top:8, series:lines.map(x => ({stroke:RUN_COLOURS[x.i % 6], width:1.5, dash:DASHES[x.i % 6], paths:stepped, points:{show:false}})), most:() => top,
    data:pixels => { const xs = edges(lines.map(x => x.n.t), pixels), ys = lines.map(x => means(x.n.t, x.n.prefix, x.n.by, xs)); top = 1.05 * ys.flat().reduce((a, b) => Math.max(a, b), 1e-30); return [xs, ...ys]; },
    rows:{space:26, values:(_, s) => s.map(v => real(v)), grid:{show:true, stroke:() => css('--soft'), width:1}}, about:unit[0] + ' over time. ' + lines.map(about).join('; '),
    tell:at => lines.map(x => { const i = Math.floor(at / x.n.t.interval); return i < x.n.t.intervals ? '\n' + runName(x.r) + ': ' + real(x.n.each(i)) : ''; }).join(''), lapse:lines[0].n.t });
}

function drawHeat(at, p) {
  const {l} = p, t = l.lapse, m = metricOf(l), rows = m ? m.rows : 1, unit = labelOf(view.metric), each = Math.max(3, Math.min(14, Math.floor(420 / rows)));
  const apart = unit[1] === 'line' ? Math.ceil(14 / each) : Math.max(Math.ceil(14 / each), Math.ceil(rows / 10)), named = []; for (let r = 0; m && r < rows; r += apart) named.push(r + .5);
  chart(at, {height:rows * each + 12 + AXIS + 2, top:12, series:[], down:true, most:() => rows, data:() => [[view.from, view.to]], lapse:t, about:'heat map over time of ' + unit[0] + ', ' + rows + ' rows', label:unit[1] === 'line' ? ' ' : unit[1],
    rows:{splits:() => named, values:(_, s) => s.map(v => unit[1] === 'line' ? shorter(rowName(t, 'line', v - .5), 9) : rowName(t, unit[1], v - .5).split(' ').pop()), ticks:{show:false}},
    tell:(at, i, u) => {
      const r = Math.floor(u.posToVal(u.cursor.top, 'y')), mode = t.modes.find(s => s[3] <= at && at < s[4]); let text = '';
      if (m && r >= 0 && r < rows) { const n = unit[1] === 'line' && t.hot_lines[r], source = n && data.files[n.file]; if (source && source[n.line - 1] !== undefined) text += '\n' + source[n.line - 1].trim().slice(0, 100); text += '\n' + rowName(t, unit[1], r) + ': ' + real(cellsOf(m)[r * t.intervals + i] / 255 * m.most) + ' ' + unit[0]; }
      return text + (mode ? '\nmode: ' + mode[0] : '');
    },
    paint:(u, g, ratio) => {
      const {left, top, width, height} = u.bbox, off = document.createElement('canvas'), most = p.most(), n = t.intervals; off.width = Math.max(1, Math.round(width / ratio)); off.height = rows;
      const og = off.getContext('2d'), img = og.createImageData(off.width, rows), px = new Uint32Array(img.data.buffer), colours = new Uint32Array(256), raw = m && cellsOf(m), busy = view.metric === 'lanes' /* else 0 lanes: nothing is issued */, per = (view.to - view.from) / off.width;
      for (let v = 0; v < 256; v++) { const q = ramp(Math.sqrt(Math.min(1, v / 255 * (m ? m.most : 1) / most))); colours[v] = 0xff000000 | q[2] << 16 | q[1] << 8 | q[0]; }
      for (let x = 0; x < off.width; x++) {
        const a = Math.floor((view.from + x * per) / t.interval), b = Math.max(a + 1, Math.ceil((view.from + (x + 1) * per) / t.interval));
        for (let r = 0; r < rows; r++) {
          let v = 0, k = 0;
          if (m) for (let i = a; i < b && i < n; i++) { v += raw[r * n + i]; k += !busy || raw[r * n + i] ? 1 : 0; }
          px[r * off.width + x] = colours[k ? Math.round(v / k) : 0];
        }
      }
      og.putImageData(img, 0, 0); g.imageSmoothingEnabled = false; g.drawImage(off, left, top, width, height);
      const X = x => u.valToPos(Math.max(view.from, Math.min(view.to, x)), 'x', true), note = (text, x) => { g.fillStyle = css('--dim'); g.font = 12 * ratio + 'px system-ui, sans-serif'; g.textAlign = 'left'; g.textBaseline = 'top'; g.fillText(text, x + 6 * ratio, top + 4 * ratio); }, end = X(t.cycles);
      if (t.cycles < view.to) { g.fillStyle = css('--soft'); g.fillRect(end, top, left + width - end, height); g.fillStyle = css('--dim'); g.fillRect(end, top, ratio, height); if (left + width - end > 90 * ratio) note('end: ' + count(t.cycles), end); }
      /* modes other than parallel: above the map, and where few are to be seen a line across it */
      const seen = t.modes.filter(s => s[4] >= view.from && s[3] <= view.to && s[0] !== 'parallel'), across = seen.length < width / ratio / 3;
      for (const s of seen) { const a = X(s[3]); g.fillStyle = PARTS[s[0]]; g.fillRect(a, top - 10 * ratio, Math.max(ratio, X(s[4]) - a), 7 * ratio); if (across && s[0] !== 'serial') { g.globalAlpha = .45; g.fillRect(a, top, ratio, height); g.globalAlpha = 1; } }
      if (!m) note('nothing of ' + view.metric + ' in this run', left);
    } });
}
/* Areas on each other: the sum of all is drawn first, then what is below its uppermost, so each hides all but its own part. `all`: as `each` of means(). */
function drawStack(at, t, names, colours, lists, all, label, about) {
  let sum = new Float64Array(t.intervals); const prefixes = lists.map(x => prefixOf(t, sum = sum.map((s, i) => s + x[i]))), whole = i => typeof all === 'number' ? all * Math.min(t.interval, t.cycles - i * t.interval) : sum[i];
  chart(at, {height:130 + AXIS + (label === 'schedulers' ? LABEL : 0), top:8, last:label === 'schedulers', label, lapse:t, series:names.map((_, k) => ({fill:() => colours[names.length - 1 - k], stroke:'transparent', width:0, paths:stepped, points:{show:false}})), most:() => 1,
    data:pixels => { const xs = edges([t], pixels); return [xs, ...prefixes.map(x => means(t, x, all, xs)).reverse()]; }, rows:{splits:() => [0, .25, .5, .75, 1], values:(_, s) => s.map(v => 100 * v + ' %')}, about:about + ' over time, stacked shares: ' + names.join(', '),
    tell:(at, i) => names.map((n, k) => lists[k][i] > 0 ? '\n' + n + ': ' + percent(lists[k][i] / whole(i)) : '').join('') });
}
function drawParts(at, t) { const names = Object.keys(PARTS).filter(n => t.sums[n]); drawStack(at, t, names, names.map(n => PARTS[n]), names.map(n => t.sums[n]), t.schedulers * t.sms.length, 'schedulers', 'what the schedulers do'); }
const binNames = () => [0, 1, 2, 3, 4, 5, 6, 7].map(k => 4 * k + 1 + ' to ' + (4 * k + 4) + ' lanes'), binColours = () => binNames().map((_, k) => 'rgb(' + ramp(.15 + .85 * (k + 1) / 8).join(',') + ')');
function drawLanes(at, t) {
  const key = el('div', null, 'legend'); at.append(key); binNames().forEach((n, k) => { const s = el('span'), b = el('b'); b.style.background = binColours()[k]; s.append(b, n); key.append(s); });
  drawStack(at, t, binNames(), binColours(), t.lane_bins, prefixOf(t, t.sums.instructions), 'instructions', 'warp instructions by active lanes');
}
function drawTime() {
  const some = data.runs.map((r, i) => ({r, i, l:r.launches[view.launch]})).filter(x => x.l), with_lapse = some.filter(x => x.l.lapse);
  $('chosen').textContent = some.length ? 'launch ' + view.launch + ', ' + some[0].l.kernel : 'no launch';
  for (const c of charts) c.u.destroy();
  charts = [];
  if (!(view.to > view.from)) { view.from = 0; view.to = Math.max(1, ...with_lapse.map(x => x.l.lapse.cycles)); }
  const key = el('div', null, 'legend'), lines = el('div', null, 'panel'), nodes = [], draw = [], most = () => view.metric === 'lanes' ? 32 : Math.max(1e-30, ...with_lapse.map(x => metricOf(x.l) ? topOf(metricOf(x.l)) : 0)), maps = with_lapse.map(x => metricOf(x.l)).filter(m => m);
  if (with_lapse.length) nodes.push(lines, key);
  for (const {r, l} of some) {
    const d = el('div', null, 'panel'); d.append(el('h3', runName(r) + ': ' + count(l.cycles) + ' cycles, ' + real(l.us, 4) + ' µs'));
    nodes.push(d);
    if (!l.lapse) { d.append(el('p', 'The longest launches of a run have a time lapse; this one is not among them.', 'note')); continue; }
    const t = l.lapse, notes = [];
    notes.push('interval: ' + count(t.interval) + ' cycles' + (t.coarser ? ' (the one that was asked for would take too much memory)' : ''));
    if (t.sms.length < r.sms) notes.push('modelled: ' + t.sms.length + ' of ' + r.sms + ' SMs; the others were not traced or are taken to be alike');
    if (Math.abs(t.scale - 1) > 1e-6) notes.push('the model ran ' + count(t.cycles) + ' cycles, which stand for ' + real(t.scale, 4) + ' times as many');
    if (t.drain > 0.5) notes.push('not shown: ' + count(t.drain) + ' cycles at the end, which wait for the longest CTAs or for DRAM');
    if (t.mode_count > t.modes.length) notes.push('modes: the first ' + count(t.modes.length) + ' of ' + count(t.mode_count));
    d.append(el('p', notes.join(' · '), 'note tight')); draw.push(() => { const p = {l, most}; drawHeat(d, p); if (view.metric === 'lanes' && t.lane_bins.length) drawLanes(d, t); drawParts(d, t); });
  }
  if (with_lapse.length) {
    const m = el('span', labelOf(view.metric)[0] + ': 0 '), r = el('span', null, 'ramp'), clipped = maps.some(m => m.most > most());
    const stops = [0, .25, .5, .75, 1].map(x => 'rgb(' + ramp(x).join(',') + ')'); r.style.background = 'linear-gradient(90deg,' + stops.join(',') + ')';
    m.append(r, (clipped ? ' ≥ ' : ' ') + real(most()) + ', in the middle ' + real(most() / 4)); if (clipped) m.title = 'at most ' + real(Math.max(...maps.map(m => m.most))); key.append(m);
    for (const n of ['commit', 'serial', 'flush']) if (with_lapse.some(x => x.l.lapse.modes.some(s => s[0] === n))) { const q = el('span'), b = el('b'); b.style.background = PARTS[n]; q.append(b, n + ' mode'); key.append(q); }
    nodes.push(legend(new Set(with_lapse.flatMap(x => Object.keys(x.l.lapse.sums)))));
  }
  put('time', ...nodes); measure(); if (with_lapse.length) drawLines(lines, with_lapse); for (const d of draw) d(); mark(); keep();
}
function tip(u, o) {
  const t = o.lapse, at = u.posToVal(u.cursor.left, 'x'), i = Math.floor(at / t.interval), box = $('tip'), e = u.cursor.event;
  if (u.cursor.left < 0 || at < view.from || at > view.to || i < 0) { box.hidden = true; return; }
  const text = i < t.intervals ? o.tell(at, i, u) : '\nthe run has ended';
  box.textContent = 'cycles ' + count(i * t.interval) + ' to ' + count((i + 1) * t.interval) + text; box.hidden = false;
  box.style.left = Math.min(e.clientX + 14, innerWidth - box.offsetWidth - 8) + 'px'; box.style.top = Math.min(e.clientY + 14, innerHeight - box.offsetHeight - 8) + 'px';
}
function zoom(from, to) {
  const end = Math.max(1, ...data.runs.map(r => r.launches[view.launch]).filter(l => l && l.lapse).map(l => l.lapse.cycles)), width = to > from ? Math.min(end, to - from) : end;
  view.from = to > from ? Math.max(0, Math.min(from, end - width)) : 0; view.to = view.from + width; redraw(); keep();
}
function choose(n) { view.launch = n; view.from = view.to = 0; $('launch').value = n; drawTime(); drawSource(); }
function keep() { history.replaceState(null, '', '#launch=' + view.launch + '&metric=' + view.metric + '&from=' + Math.round(view.from) + '&to=' + Math.round(view.to)); }
function recall() { const q = new URLSearchParams(location.hash.slice(1)); for (const k of ['launch', 'from', 'to']) if (q.has(k) && isFinite(+q.get(k))) view[k] = +q.get(k); if (q.has('metric')) view.metric = q.get('metric'); }

/* ---- roofline, occupancy ---------------------------------------------------------------------------------- */
function svg(name, attributes, text) { const e = document.createElementNS('http://www.w3.org/2000/svg', name); for (const k in attributes) e.setAttribute(k, attributes[k]); if (text) e.textContent = text; return e; }
const MARKS = ['circle', 'square', 'triangle', 'diamond'];
function mark4(kind, x, y, fill) { const d = {square:`M${x-5},${y-5}h10v10h-10z`, triangle:`M${x},${y-6}l6,11h-12z`, diamond:`M${x},${y-7}l6,7l-6,7l-6,-7z`}[kind]; return kind === 'circle' ? svg('circle', {cx:x, cy:y, r:5, fill, stroke:css('--bg')}) : svg('path', {d, fill, stroke:css('--bg')}); }
function drawRoofline() {
  const points = data.runs.flatMap((r, i) => r.launches.filter(l => l.intensity > 0 && l.performance > 0).map(l => ({l, r, i})));
  if (!points.length) { put('roofline', el('p', 'No launch moved anything from or to DRAM.', 'note')); return; }
  const W = 900, H = 380, L = 70, B = 50, lo = (a, f) => Math.floor(Math.log10(Math.min(...a.map(f)))), hi = (a, f) => Math.ceil(Math.log10(Math.max(...a.map(f))));
  const x0 = lo(points, p => p.l.intensity), x1 = Math.max(x0 + 1, hi(points, p => p.l.intensity)), y0 = lo(points, p => Math.min(p.l.performance, p.l.roof)), y1 = Math.max(y0 + 1, hi(points, p => p.l.roof));
  const X = v => L + (Math.log10(v) - x0) / (x1 - x0) * (W - L - 20), Y = v => H - B - (Math.log10(v) - y0) / (y1 - y0) * (H - B - 16);
  const s = svg('svg', {viewBox:`0 0 ${W} ${H}`, width:W, height:H, role:'img'}); s.style.maxWidth = '100%';
  for (let e = x0; e <= x1; e++) { s.append(svg('line', {x1:X(10 ** e), x2:X(10 ** e), y1:16, y2:H - B, stroke:css('--line')}), svg('text', {x:X(10 ** e), y:H - B + 16, 'text-anchor':'middle'}, real(10 ** e))); }
  for (let e = y0; e <= y1; e++) { s.append(svg('line', {x1:L, x2:W - 20, y1:Y(10 ** e), y2:Y(10 ** e), stroke:css('--line')}), svg('text', {x:L - 6, y:Y(10 ** e) + 4, 'text-anchor':'end'}, real(10 ** e))); }
  s.append(svg('text', {x:(L + W) / 2, y:H - 12, 'text-anchor':'middle'}, 'warp instructions for each byte of DRAM'), svg('text', {x:16, y:H / 2, transform:`rotate(-90 16 ${H / 2})`, 'text-anchor':'middle'}, 'warp instructions / cycle'));
  const seen = new Map();
  points.forEach(p => { const key = p.r.gpu; if (!seen.has(key)) seen.set(key, []); seen.get(key).push(p.l); });
  const labels = [];
  for (const [gpu, list] of seen) { /* slope: bytes per cycle, from any launch under the slope; flat: the most */
    const flat = Math.max(...list.map(l => l.roof)), slope = Math.max(...list.map(l => l.roof / l.intensity)), knee = flat / slope, xa = 10 ** x0, xb = 10 ** x1;
    const path = knee > xa && knee < xb ? [[xa, slope * xa], [knee, flat], [xb, flat]] : [[xa, Math.min(flat, slope * xa)], [xb, Math.min(flat, slope * xb)]];
    s.append(svg('polyline', {points:path.map(q => X(q[0]) + ',' + Math.min(H - B, Y(Math.max(q[1], 10 ** y0)))).join(' '), fill:'none', stroke:css('--dim'), 'stroke-width':1.5}));
    let y = Y(flat) - 5; while (labels.some(v => Math.abs(v - y) < 13)) y += 7; /* roofs of GPUs may be the same */
    labels.push(y); s.append(svg('text', {x:X(xb) - 4, y, 'text-anchor':'end'}, gpu));
  }
  for (const p of points) { const m = mark4(MARKS[p.i % 4], X(p.l.intensity), Y(p.l.performance), RUN_COLOURS[p.i % 6]); m.append(svg('title', {}, `${p.l.kernel} (launch ${p.l.number}, ${runName(p.r)})\n${real(p.l.performance)} warp instructions/cycle, ${percent(p.l.performance / p.l.roof)} of ${real(p.l.roof)}`)); m.style.cursor = 'pointer'; m.onclick = () => choose(p.l.number); s.append(m); }
  const key = el('div', null, 'legend');
  data.runs.forEach((r, i) => { const q = el('span'), v = svg('svg', {width:16, height:16}); v.append(mark4(MARKS[i % 4], 8, 8, RUN_COLOURS[i % 6])); q.append(v, ' ' + runName(r)); key.append(q); });
  put('roofline', key, s, el('p', 'The roof: instructions that all schedulers could issue, or DRAM could feed. Click a mark for its launch.', 'note'));
}
function drawOccupancy() {
  const seen = new Set(), rows = [];
  for (const r of data.runs) for (const l of r.launches) {
    const o = l.occupancy, key = [r.gpu, l.kernel, l.block, l.grid, o.ctas].join('|');
    if (seen.has(key) || !matches(l.kernel)) continue;
    seen.add(key);
    rows.push([r.gpu, l.kernel, l.grid.join('×').replace(/(×1)+$/, ''), l.block.join('×').replace(/(×1)+$/, ''), o.ctas, o.warps + ' of ' + o.most_warps, percent(o.warps / o.most_warps), o.limit, o.registers, count(o.shared), o.waves]);
  }
  const s = el('div', null, 'scroll'); s.append(table([{name:'GPU', text:1}, {name:'kernel', text:2}, {name:'grid'}, {name:'block'}, {name:'CTAs / SM'}, {name:'warps / SM'}, {name:'occupancy'}, {name:'limited by', text:1}, {name:'registers'}, {name:'shared bytes'}, {name:'waves'}], rows));
  put('occupancy', s);
}

/* ---- communication --------------------------------------------------------------------------------------- */
const ORIGINS = { communicated:['other CTAs', '#d55e00', 'CTAs of earlier launches with another index'], stays:['same CTA', '#56b4e9', 'the CTA with the same index in an earlier launch'], inside:['this launch', '#cc79a7', 'another CTA in this launch'], from_host:['host', '#999933', 'copies of the host'], initial:['nobody', '#bbbbbb', 'zeroed memory, variables of modules'] };
function size(x) { const u = ['B', 'KB', 'MB', 'GB', 'TB']; let k = 0; while (x >= 1000 && k < 4) x /= 1000, k++; return real(x) + ' ' + u[k]; }
function origins(l, most) { const s = el('span', null, 'parts'); for (const o in ORIGINS) if (l[o] > 0) { const i = el('i'); i.style.width = 100 * l[o] / most + '%'; i.style.background = ORIGINS[o][1]; i.title = ORIGINS[o][0] + ': ' + size(l[o]); s.append(i); } return s; }
function drawCommunication() {
  const c = data.communication;
  $('communication').hidden = !c;
  if (!c) return;
  const sum = l => Object.keys(ORIGINS).reduce((s, o) => s + (l[o] || 0), 0), most = Math.max(1, ...c.launches.map(sum)), key = el('div', null, 'legend');
  for (const o in ORIGINS) { const s = el('span'), b = el('b'); b.style.background = ORIGINS[o][1]; s.append(b, ORIGINS[o][0]); s.title = ORIGINS[o][2]; key.append(s); }
  const rows = c.launches.map((l, i) => [i, l]).filter(x => matches(x[1].kernel)), shown = rows.slice(0, 1000);
  const t = table([{name:'launch'}, {name:'kernel', text:2}, {name:'read, by who wrote it', text:1}, ...Object.values(ORIGINS).map(o => ({name:o[0], help:o[2]})), {name:'to the host', help:'of what the launch wrote: copied to the host later'}, {name:'never read', help:'of what the launch wrote'}],
    shown.map(([i, l]) => [i, l.kernel, origins(l, most), ...Object.keys(ORIGINS).map(o => size(l[o] || 0)), size(l.to_host), size(l.never_read)])), s = el('div', null, 'scroll');
  pickable(t, shown.map(x => x[0])); s.append(t);
  const nodes = [el('p', 'Bytes of global memory that CTAs read, by who wrote them last: a CTA of an earlier launch, the host, or nobody (heddle communication).', 'note'), key, s];
  if (rows.length > shown.length) nodes.push(el('p', count(rows.length - shown.length) + ' more launches are not shown', 'note'));
  const share = (x, p) => p.bytes ? percent(x / p.bytes) : '';
  if (c.pairs.length) nodes.push(el('h3', 'What kernels pass to later ones'), table([{name:'from', text:2}, {name:'to', text:2}, {name:'bytes'}, {name:'pairs of CTAs'}, {name:'to one CTA'}, {name:'to several'}, {name:'gathered', help:'by CTAs that read from at least two others'}, {name:'of neighbours', help:'linear indices differ by 1'}],
    c.pairs.filter(p => matches(p.from) || matches(p.to)).map(p => [p.from, p.to, size(p.bytes), count(p.edges), share(p.point_to_point, p), share(p.scatter, p), share(p.gather, p), share(p.within_1, p)])));
  put('communication', ...nodes); mark();
}

/* ---- advice -------------------------------------------------------------------------------------------------- */
const each = a => a.unit === 'warp instructions' ? percent(a.after / a.before) + ' of the ' + a.unit + ' would do'
  : real(a.before / (a.accesses || 1)) + ' ' + a.unit + (a.unit === 'CTAs' ? '' : ' for each access') + ', ' + real(a.after / (a.accesses || 1)) + ' would do' + (a.detail ? ': ' + a.detail : '');
function drawAdvice() {
  const nodes = [];
  for (const [i, r] of data.runs.entries()) {
    if (!r.advice) continue;
    const all = total(r, 'cycles'), list = r.advice.filter(a => matches(a.kernel) || matches(a.file)), s = el('div', null, 'scroll');
    nodes.push(el('h3', runName(r)));
    if (!r.advice.length) { nodes.push(el('p', 'Nothing to gain: less than 1 % of the cycles for each line.', 'good')); continue; }
    s.append(table([{name:'saves at most', help:'cycles'}, {name:'of all'}, {name:'kernel', text:2}, {name:'line', text:1}, {name:'advice', text:1}, {name:'why, and what to do', text:3}], list.map(a => {
      const line = el('a', a.file.split('/').pop() + ':' + a.line), text = el('div'); line.href = '#source'; line.title = a.file; line.onclick = e => { e.preventDefault(); $('srcrun').value = i; drawSource(); showLine(a.file, a.line); };
      text.append(el('div', each(a))); if (a.other_way) text.append(el('div', a.other_way.text + (a.other_way.saved_cycles > 0 ? ' saves ' : ' costs ') + count(Math.abs(a.other_way.saved_cycles)) + ' cycles')); text.append(el('div', a.text, 'note')); return [count(a.saved_cycles), percent(a.saved_cycles / all), a.kernel, line, a.advice, text];
    })));
    nodes.push(s);
  }
  $('advice').hidden = !nodes.length;
  if (nodes.length) nodes.unshift(el('p', 'The timing model executed the trace again with a better line. Savings are upper bounds, since what a rewrite adds is counted for tiles and shuffles alone, and they do not add up.', 'note'));
  put('advice', ...nodes);
}
function showLine(file, line) { const tr = [...document.querySelectorAll('#source tr[data-line]')].find(t => t.dataset.file === file && +t.dataset.line === line); if (tr) { tr.scrollIntoView({block:'center'}); for (const t of document.querySelectorAll('#source tr.chosen')) t.classList.remove('chosen'); tr.classList.add('chosen'); } else $('source').scrollIntoView(); }

/* ---- source ------------------------------------------------------------------------------------------------- */
const HEATS = { cycles:['scheduler cycles', l => Object.values(l.parts).reduce((a, b) => a + b, 0)], warp:['warp instructions', l => l.warp || 0], sectors:['sectors of global memory', l => l.sectors || 0],
  passes:['extra passes of shared memory', l => Math.max(0, (l.passes || 0) - (l.shared || 0))], lanes:['idle lanes', l => Math.max(0, 32 * (l.warp || 0) - (l.thread || 0))], divergent:['divergent branches', l => l.divergent || 0], collisions:['colliding lanes of atomics', l => l.collisions || 0], races:['findings of races', l => l.races || 0] };
function addTo(sum, l) { for (const k in l) if (typeof l[k] === 'number' && k !== 'line') sum[k] = (sum[k] || 0) + l[k]; for (const p in l.parts) sum.parts[p] = (sum.parts[p] || 0) + l.parts[p]; }
function drawSource() {
  const r = data.runs[+$('srcrun').value || 0], heat = HEATS[$('heat').value] || HEATS.cycles, files = new Map(), nodes = [];
  if (!r) return;
  for (const l of r.launches) for (const n of l.lines) { if (!files.has(n.file)) files.set(n.file, new Map()); const m = files.get(n.file); if (!m.has(n.line)) m.set(n.line, {line:n.line, parts:{}}); addTo(m.get(n.line), n); }
  for (const [place, n] of races) { const [file, line] = place.split('\n'); if (files.has(file)) { const m = files.get(file); if (!m.has(+line)) m.set(+line, {line:+line, parts:{}}); m.get(+line).races = n; } }
  let all = 0, most = 0;
  for (const m of files.values()) for (const n of m.values()) { const x = heat[1](n); all += x; most = Math.max(most, x); }
  for (const [file, m] of [...files].sort((a, b) => [...b[1].values()].reduce((s, n) => s + heat[1](n), 0) - [...a[1].values()].reduce((s, n) => s + heat[1](n), 0))) {
    if (!matches(file) && !r.launches.some(l => matches(l.kernel))) continue;
    const text = data.files[file], rows = [], hot = new Set(m.keys()), show = new Set();
    if (text && $('whole').checked) text.forEach((_, i) => show.add(i + 1));
    for (const n of hot) for (let k = n - 2; k <= n + 2; k++) if (hot.has(k) || (text && k > 0 && k <= text.length)) show.add(k);
    let before = 0;
    for (const n of [...show].sort((a, b) => a - b)) {
      if (before && n > before + 1) rows.push(null);
      rows.push(n); before = n;
    }
    const t = el('table', null, 'code'), head = t.createTHead().insertRow(), body = t.createTBody();
    for (const h of [heat[0], '%', 'warp instructions', 'lanes', 'sectors /\u00a0access', 'passes /\u00a0access', 'mostly']) head.append(el('th', h));
    head.append(el('th', 'line'), el('th', text ? 'source' : 'source (the file could not be read)', 'text'));
    for (const n of rows) {
      const tr = body.insertRow();
      if (n === null) { const td = tr.insertCell(); td.colSpan = 9; td.textContent = '⋯'; td.style.textAlign = 'center'; continue; }
      const x = m.get(n), v = x ? heat[1](x) : 0, cells = x ? [v ? count(v) : '', v && all ? (100 * v / all).toFixed(1) : '', count(x.warp || 0), x.warp ? ((x.thread || 0) / x.warp).toFixed(1) : '', x.accesses ? (x.sectors / x.accesses).toFixed(1) : '', x.shared ? (x.passes / x.shared).toFixed(1) : '', why(x)] : ['', '', '', '', '', '', ''];
      cells.forEach((c, i) => { const td = tr.insertCell(); td.textContent = c; if (i === 0) { td.className = 'heat'; td.style.backgroundSize = (most ? 100 * v / most : 0) + '% 100%'; } if (i === 6) { td.className = 'text'; if (x) td.title = Object.entries(x.parts).map(e => e[0] + ': ' + count(e[1])).join('\n'); } });
      tr.dataset.file = file; tr.dataset.line = n;
      const td = el('td', n), said = (r.advice || []).filter(a => a.file === file && a.line === n); if (said.length) { td.textContent = '▶ ' + n; td.className = 'advised'; td.title = said.map(a => a.advice + ': saves at most ' + count(a.saved_cycles) + ' cycles').join('\n'); }
      if (x && x.races) { td.textContent = '● ' + td.textContent; td.classList.add('racy'); td.title += (td.title ? '\n' : '') + 'race: ' + count(x.races) + (x.races > 1 ? ' findings' : ' finding') + ' name this line'; }
      tr.append(td); tr.append(el('td', text && text[n - 1] !== undefined ? text[n - 1] : '', 'src'));
    }
    const s = el('div', null, 'scroll'); s.style.maxHeight = '44rem'; s.append(t); nodes.push(el('h3', file), s);
  }
  nodes.unshift(el('p', (races.size ? '● a race names the line · ' : '') + 'Sums over all launches of the run. Scheduler cycles: what schedulers spent before and on the issue of the line’s instructions, in the SMs that were modelled.', 'note'));
  put('source', ...nodes);
}
function why(x) { let best = '', most = 0; for (const p in x.parts) if (x.parts[p] > most) most = x.parts[p], best = p; return best; }

/* ---- the page ----------------------------------------------------------------------------------------------- */
function setTheme(d) { document.documentElement.classList.toggle('dark', d); PARTS.launch = d ? '#5d6670' : '#bbbbbb'; PARTS.imbalance = d ? '#363e47' : '#dddddd'; }
function fillSelects() {
  const names = new Set(); for (const r of data.runs) for (const l of r.launches) if (l.lapse) for (const m in l.lapse.maps) names.add(m);
  for (const m of [...Object.keys(METRICS), ...Object.keys(PARTS)]) if (names.has(m)) { const o = el('option', labelOf(m)[0]); o.value = m; $('metric').append(o); }
  if (!names.has(view.metric)) view.metric = 'instructions'; $('metric').value = view.metric;
  const most = Math.max(0, ...data.runs.map(r => r.launches.length));
  for (let k = 0; k < most; k++) { const l = data.runs.map(r => r.launches[k]).find(x => x), o = el('option', k + ': ' + l.kernel + (data.runs.some(r => r.launches[k] && r.launches[k].lapse) ? '' : ' (numbers only)')); o.value = k; $('launch').append(o); }
  if (!(view.launch < most)) view.launch = 0; $('launch').value = view.launch;
  data.runs.forEach((r, i) => { const o = el('option', runName(r)); o.value = i; $('srcrun').append(o); });
  for (const h in HEATS) if (h !== 'races' || races.size) { const o = el('option', HEATS[h][0]); o.value = h; $('heat').append(o); }
}
function step(n) { const most = $('launch').length - 1; choose(Math.max(0, Math.min(most, view.launch + n))); }
function scale(f) { const mid = (view.from + view.to) / 2, half = (view.to - view.from) / 2 * f; zoom(mid - half, mid + half); }
function pan(f) { const by = (view.to - view.from) * f; zoom(view.from + by, view.to + by); }
function onKey(e) {
  if (e.target.matches('input, select') && e.key !== 'Escape') return;
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const keys = { j:() => step(1), k:() => step(-1), m:() => { const s = $('metric'); s.selectedIndex = (s.selectedIndex + 1) % s.length; s.onchange(); }, '0':() => zoom(0, 0), '+':() => scale(.5), '=':() => scale(.5), '-':() => scale(2), ArrowLeft:() => pan(-.25), ArrowRight:() => pan(.25),
    '/':() => $('search').focus(), t:() => $('theme').click(), '?':() => $('keys').showModal(), Escape:() => e.target.blur() };
  if (keys[e.key]) { e.preventDefault(); keys[e.key](); }
}
async function unpack() {
  const packed = bytes($('data').textContent.trim()), stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return JSON.parse(await new Response(stream).text());
}
async function main() {
  setTheme(matchMedia('(prefers-color-scheme: dark)').matches);
  data = await unpack(); recall();
  document.title = 'heddle report: ' + data.target; $('target').textContent = data.target;
  $('about').textContent = data.command + ' · Heddle ' + data.heddle;
  races = countRaces(); fillSelects(); drawRuns(); drawVerdicts(); drawCompare(); drawLaunches(); drawTime(); drawRoofline(); drawOccupancy(); drawCommunication(); drawAdvice(); drawSource();
  for (const s of document.querySelectorAll('main > section:not([hidden])')) { const a = el('a', s.querySelector('h2').firstChild.textContent.replace(/: $/, '')); a.href = '#' + s.id; a.onclick = e => { e.preventDefault(); s.scrollIntoView(); }; $('contents').append(a); }
  $('metric').onchange = () => { view.metric = $('metric').value; drawTime(); }; $('launch').onchange = () => choose(+$('launch').value); $('reset').onclick = () => zoom(0, 0);
  $('srcrun').onchange = $('heat').onchange = $('whole').onchange = drawSource;
  $('search').oninput = () => { drawLaunches(); drawCompare(); drawOccupancy(); drawCommunication(); drawAdvice(); drawSource(); mark(); };
  $('theme').onclick = () => { setTheme(!dark()); drawRuns(); drawCompare(); drawLaunches(); drawTime(); drawRoofline(); }; $('help').onclick = () => $('keys').showModal();
  document.addEventListener('keydown', onKey); addEventListener('resize', redraw);
  addEventListener('beforeprint', () => { paper = true; if (dark()) $('theme').click(); redraw(); });
  addEventListener('afterprint', () => { paper = false; redraw(); });
  document.documentElement.dataset.ready = 'yes';
}
main().catch(e => { const p = document.createElement('p'); p.className = 'warning'; p.textContent = 'This report could not be shown: ' + e.message + ' (it needs a browser with DecompressionStream: Chrome 80, Firefox 113, Safari 16.4)'; document.body.prepend(p); document.documentElement.dataset.ready = 'failed'; });
