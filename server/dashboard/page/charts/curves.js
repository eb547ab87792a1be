/**
 * Curves over steps, drawn on canvas by dygraphs: overlaid, on a linear or logarithmic scale, smoothed
 * on request. A drag zooms; so do + and −, arrows move, 0 shows everything.
 */

import {h, svg} from '../dom.js';
import {count, number} from '../format.js';
import '../lib/dygraph.min.js';
import {oddPoints, rowsOf, smoothed} from './curve_data.js';

const {Dygraph} = window; // the library is a plain script
// Its legend writes inline styles, which the policy refuses; curve_legend.js is ours.
Dygraph.PLUGINS = Dygraph.PLUGINS.filter((plugin) => plugin !== Dygraph.Plugins.Legend);
const COLOURS = 8;
const DASHES = [null, [7, 4], [2, 3]];
const MANY_CURVES = 4; // more are drawn with thinner lines
const LEAST_POINT = 2.5;
const POINT_SIZES = [[1, 5], [8, 3.5], [40, LEAST_POINT]]; // [points at most, radius of each]: one alone has no line that would show it
const SETTLE_MS = 200;
const SVG_DASHES = ['', '7 4', '2 3'];

function variable(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** The look of the n-th curve: eight colours, then the same ones dashed. */
export function look(n) {
  const round = Math.floor(n / COLOURS) % DASHES.length;
  return {variable: `--series-${1 + (n % COLOURS)}`, pattern: DASHES[round], svgPattern: SVG_DASHES[round]};
}

/** @returns {number} the radius of points; 0: the line is enough */
function sizeOfPoints(values) {
  const drawn = values.filter(Number.isFinite).length;
  return POINT_SIZES.find(([most]) => drawn <= most)?.[1] ?? 0;
}

/** What is drawn of each curve: itself; when smoothed also, faintly, what it was made of. */
function columnsOf(series, smoothing) {
  const columns = series.map(({place, curve: {steps, values}}) =>
    ({key: `curve ${place}`, place, steps, values, pointSize: sizeOfPoints(values)}));
  if (smoothing === 0) {
    return columns;
  }
  return [ // what is faint lies below all that is not
    ...columns.map((column) => ({...column, key: `raw ${column.place}`, isFaint: true})),
    ...columns.map((column) => ({...column, values: smoothed(column.values, smoothing)})),
  ];
}

function styleOf(column, width) {
  const shown = look(column.place);
  const colour = variable(shown.variable);
  return {
    color: column.isFaint ? `color-mix(in srgb, ${colour} 28%, transparent)` : colour,
    strokePattern: shown.pattern,
    strokeWidth: column.isFaint ? 1 : width,
    drawPoints: column.pointSize > 0 && !column.isFaint,
    pointSize: column.pointSize || LEAST_POINT, // a point between gaps is drawn in any case
    highlightCircleSize: (column.pointSize || LEAST_POINT) + 1,
  };
}

/* -------------------------------------------------------------------------------- odd points */

const SHAPES = {
  nan: [[-4, -4, 4, 4], [-4, 4, 4, -4]],
  up: [[-4, 3, 0, -4], [0, -4, 4, 3]],
  down: [[-4, -4, 0, 3], [0, 3, 4, -4]],
};

/** A cross for NaN, an arrow for what lies beyond the scale, at the edge where it went. */
function drawOdd(canvas, area, graph, series, isLog) {
  canvas.save();
  canvas.lineWidth = 1.75;
  for (const {place, curve} of series) {
    canvas.strokeStyle = variable(look(place).variable);
    for (const {step, kind} of oddPoints(curve, isLog)) {
      const x = graph.toDomXCoord(step);
      const y = kind === 'up' ? area.y + 7 : area.y + area.h - 7;
      canvas.beginPath();
      for (const [x0, y0, x1, y1] of x >= area.x ? SHAPES[kind] : []) {
        canvas.moveTo(x + x0, y + y0);
        canvas.lineTo(x + x1, y + y1);
      }
      canvas.stroke();
    }
  }
  canvas.restore();
}

/* ----------------------------------------------------------------------------------- the graph */

const TICK_PIXELS = 32;

/** Powers of ten, where a logarithmic scale spans many: the library would draw nine lines for each. */
function tickerY(low, high, pixels, get, graph, values) {
  const decades = Math.log10(high / low);
  if (!get('logscale') || !(decades > 4)) {
    return Dygraph.numericTicks(low, high, pixels, get, graph, values);
  }
  const step = Math.ceil(decades / (pixels / TICK_PIXELS));
  const ticks = [];
  for (let power = step * Math.ceil(Math.log10(low) / step); 10 ** power <= high; power += step) {
    ticks.push({v: 10 ** power, label: number(10 ** power)});
  }
  return ticks;
}

function fixedOptions(chart) {
  return {
    connectSeparatedPoints: true, // steps differ from curve to curve: null is no gap, NaN is
    drawGrid: true,
    gridLineWidth: 0.5,
    rightGap: 8,
    xRangePad: 7, // room for the largest point
    yRangePad: 7,
    axes: {
      x: {axisLabelFormatter: (step) => (Number.isInteger(step) ? count(step) : ''), pixelsPerLabel: 60},
      y: {axisLabelFormatter: number, axisLabelWidth: 58, pixelsPerLabel: TICK_PIXELS, ticker: tickerY},
    },
    underlayCallback: (canvas, area, graph) => drawOdd(canvas, area, graph, chart.visible(), chart.isLog),
    highlightCallback: (event, step) => chart.options.onStep?.(step),
    unhighlightCallback: () => chart.options.onStep?.(null),
    drawCallback: (graph) => chart.settle(graph),
  };
}

/** What depends on data and theme. */
function changingOptions(chart) {
  const visible = chart.visible();
  const columns = columnsOf(visible, chart.smoothing);
  const width = visible.length > MANY_CURVES && chart.smoothing === 0 ? 1.2 : 1.75;
  return {
    file: columns.length > 0 ? rowsOf(columns, chart.isLog) : [[0]],
    labels: ['step', ...columns.map(({key}) => key)],
    series: Object.fromEntries(columns.map((column) => [column.key, styleOf(column, width)])),
    logscale: chart.isLog,
    axisLineColor: variable('--line-strong'),
    gridLineColor: variable('--line'),
    dateWindow: chart.range,
  };
}

/** Tells of another range once it has stayed the same for a moment. */
function settling(onRange) {
  let timer = null;
  let told = 'null';
  const stop = () => {
    clearTimeout(timer);
    timer = null;
  };
  return {
    isWaiting: () => timer !== null,
    know(range) {
      stop();
      told = JSON.stringify(range);
    },
    hear(range) {
      stop();
      const text = JSON.stringify(range);
      if (text !== told) {
        timer = setTimeout(() => {
          timer = null;
          told = text;
          onRange?.(range);
        }, SETTLE_MS);
      }
    },
  };
}

const KEYS = {'+': [0.25, -0.25], '=': [0.25, -0.25], '-': [-0.5, 0.5], ArrowLeft: [-0.2, -0.2], ArrowRight: [0.2, 0.2]};

/** Zoom and move by keys, in shares of what is seen. */
function onKey(event, graph) {
  const change = KEYS[event.key];
  if (change) {
    const [low, high] = graph.xAxisRange();
    const width = high - low;
    graph.updateOptions({dateWindow: [low + change[0] * width, high + change[1] * width]});
    event.preventDefault();
  } else if (event.key === '0') {
    graph.resetZoom();
  }
}

/**
 * @typedef {{key: string, label: string, place: number, curve: {steps: number[], values: number[], total: number}}} Series
 *   place: which look it has, whatever else is shown
 */

/**
 * A chart.
 * @param {Series[]} series
 * @param {{signal: AbortSignal, label: string, onStep?: function(?number), onRange?: function(?number[])}} options
 *   label: for readers of screens; onStep: the pointer is at a step; onRange: another range of steps
 *   is seen, null: all
 * @returns {HTMLElement} with update(series, {isLog, smoothing, range, hidden: Set<string>})
 */
export function curves(series, options) {
  const box = h('div', {
    class: 'curves', role: 'img', tabindex: '0', 'aria-label': options.label, 'data-test': 'curves',
    title: 'Drag to zoom, double-click to see all',
  });
  const settler = settling(options.onRange);
  const chart = {
    options, series, isLog: false, smoothing: 0, range: null, hidden: new Set(), graph: null,
    visible: () => chart.series.filter(({key}) => !chart.hidden.has(key)),
    settle: (graph) => settler.hear(graph.isZoomed('x') ? graph.xAxisRange().map(Math.round) : null),
  };
  const draw = () => chart.graph?.updateOptions(changingOptions(chart));
  const observer = new ResizeObserver(() => {
    if (chart.graph) {
      chart.graph.resize();
    } else if (box.clientWidth > 0) { // it cannot be drawn before it has a size
      const {file, ...rest} = changingOptions(chart);
      chart.graph = new Dygraph(box, file, {...fixedOptions(chart), ...rest});
    }
  });
  observer.observe(box);
  document.addEventListener('themechange', draw, {signal: options.signal});
  box.addEventListener('keydown', (event) => chart.graph && onKey(event, chart.graph));
  options.signal.addEventListener('abort', () => {
    observer.disconnect();
    chart.graph?.destroy();
    chart.graph = null;
  });
  box.update = (next, settings) => {
    const isSame = JSON.stringify(settings.range) === JSON.stringify(chart.range);
    Object.assign(chart, settings, {series: next});
    if (isSame && settler.isWaiting()) { // new points must not undo a move that was not told yet
      const {dateWindow, ...rest} = changingOptions(chart);
      chart.graph?.updateOptions(rest);
      return;
    }
    settler.know(chart.range);
    draw();
  };
  return box;
}

/** A line as the curve's, for a legend. */
export function swatch(n) {
  const {variable: colour, svgPattern} = look(n);
  return svg('svg', {class: 'swatch', width: 22, height: 10, 'aria-hidden': 'true'},
    svg('line', {x1: 1, x2: 21, y1: 5, y2: 5, 'stroke-width': 2.5, 'stroke-dasharray': svgPattern || null, style: {stroke: `var(${colour})`}}));
}
