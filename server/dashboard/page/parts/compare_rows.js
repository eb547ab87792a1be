/** Trials beside each other, as rows of texts: what differs between them, and how they did. */

import {metricName, number, value} from '../format.js';

/** Figures of an evaluation that have a direction, in the order in which they are shown. */
const FIGURES = {
  accuracy: 'higher', balanced_accuracy: 'higher', loss: 'lower', rmse: 'lower', mae: 'lower', r2: 'higher',
  mean_max_absolute_error: 'lower', last_step_rmse: 'lower', phm08_score: 'lower',
};
const PARTS = ['validation', 'test', 'train'];

/** Dotted paths of all leaves of a document; arrays are leaves. */
function flatten(document, path = '', out = new Map()) {
  for (const [key, inner] of Object.entries(document ?? {})) {
    const name = path ? `${path}.${key}` : key;
    if (inner !== null && typeof inner === 'object' && !Array.isArray(inner) && Object.keys(inner).length > 0) {
      flatten(inner, name, out);
    } else {
      out.set(name, inner);
    }
  }
  return out;
}

/**
 * The settings of trials.
 * @param {Object[]} trials with their resolved specs
 * @returns {{differing: Row[], same: Row[]}} a row: {name, texts: string[]}
 */
export function settingRows(trials) {
  const flat = trials.map(({resolved}) => flatten(resolved));
  const names = [...new Set(flat.flatMap((one) => [...one.keys()]))];
  const rows = names.map((name) => ({name, texts: flat.map((one) => value(one.get(name)))}));
  const differs = ({texts}) => texts.some((text) => text !== texts[0]);
  return {differing: rows.filter(differs), same: rows.filter((row) => !differs(row))};
}

/** Every figure of an evaluation: {name, direction, value, low, high}. */
function figuresOf(evaluation) {
  const own = Object.entries(FIGURES).filter(([name]) => name in evaluation).map(([name, direction]) =>
    ({name, direction, value: evaluation[name], low: evaluation[`${name}_low`], high: evaluation[`${name}_high`]}));
  return [...own, ...(evaluation.custom_metrics ?? [])];
}

/** Places of the best values; what is not finite never wins, and where all are equal none is best. */
function bestOf(values, direction) {
  const numbers = values.map((one) => (typeof one === 'number' ? one : NaN)).filter(Number.isFinite);
  if (direction === 'none' || numbers.length < 2) {
    return [];
  }
  const best = direction === 'higher' ? Math.max(...numbers) : Math.min(...numbers);
  if (numbers.length === values.length && numbers.every((one) => one === best)) {
    return [];
  }
  return values.flatMap((one, i) => (one === best ? [i] : []));
}

/**
 * Final figures of trials.
 * @param {Object[][]} evaluations of each trial
 * @param {boolean} isOneTarget else none is best: their errors are not compared
 * @returns {{name: string, title: string, texts: string[], ranges: ([number, number]|null)[], best: number[]}[]}
 */
export function figureRows(evaluations, isOneTarget) {
  const rows = new Map();
  evaluations.forEach((parts, k) => {
    for (const evaluation of parts) {
      for (const figure of figuresOf(evaluation)) {
        const name = `${evaluation.part}_${figure.name}`;
        const row = rows.get(name) ?? {name, part: evaluation.part, direction: figure.direction, figures: []};
        row.figures[k] = figure;
        rows.set(name, row);
      }
    }
  });
  return [...rows.values()].sort((a, b) => PARTS.indexOf(a.part) - PARTS.indexOf(b.part)).map(({name, direction, figures}) => {
    const every = evaluations.map((_, k) => figures[k]);
    return {
      name, title: metricName(name), texts: every.map((figure) => number(figure?.value)),
      ranges: every.map((figure) => (figure?.low === undefined || figure.low === null ? null : [figure.low, figure.high])),
      best: !isOneTarget ? [] : bestOf(every.map((figure) => figure?.value), direction),
    };
  });
}
