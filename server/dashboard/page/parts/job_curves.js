/** Curves of several trials over each other, one metric at a time: for a job and for a comparison. */

import {h, replace} from '../dom.js';
import {metricName, value} from '../format.js';
import {curveBoard} from './curve_board.js';

const OVER = new Set(['completed', 'stopped', 'cancelled', 'failed']);
const MOST = 24; // three dashes of eight colours: more cannot be told apart

/** "learning_rate 0.01, solver adam": a sweep's values as short as they stay clear. */
export function parametersText(trial) {
  const words = Object.entries(trial.parameters ?? {}).map(([key, chosen]) => `${key.split('.').pop()} ${value(chosen)}`);
  return [...words, `seed ${trial.seed}`].join(', ');
}

function seriesOf(trials, metric) {
  return trials.slice(0, MOST).map((trial) => ({
    key: trial.id, label: `Trial ${trial.index}`, detail: parametersText(trial), href: `#/trials/${trial.id}?tab=curves`,
    trial: trial.id, metric, isLive: !OVER.has(trial.state),
  }));
}

/** Whether trials may have points: those that never ran have none. */
function hasRun(trial) {
  return trial.step > 0 || !OVER.has(trial.state);
}

/** The metrics to choose from, those of the task. */
function metricsOf(isRegression) {
  const measure = isRegression ? 'rmse' : 'accuracy';
  return ['training_loss', 'validation_loss', `training_${measure}`, `validation_${measure}`, 'learning_rate', 'gradient_norm',
    'images_per_second'];
}

/**
 * Overlaid curves of trials of one kind. The chosen metric stands in the address as `metric`.
 * @param {Object[]} trials as the API lists them; the first 24 that have run are drawn
 * @param {{signal, query, setQuery}} scope
 * @param {{isRegression?: boolean}} options
 * @returns {HTMLElement} with update(trials), to be called when trials or their states change
 */
export function jobCurves(trials, scope, {isRegression = false} = {}) {
  const metrics = metricsOf(isRegression);
  const asked = scope.query.get('metric');
  const choice = h('select', {'aria-label': 'Metric', 'data-test': 'curve-metric', value: metrics.includes(asked) ? asked : metrics[0]},
    metrics.map((name) => h('option', {value: name}, metricName(name))));
  const board = curveBoard(scope, {extra: [choice], isWide: true});
  const more = h('p', {class: 'muted small', hidden: true});
  const element = h('div', {class: 'stack', 'data-test': 'job-curves'}, board, more);
  let shown = [];
  const show = () => {
    board.update([{title: metricName(choice.value), series: seriesOf(shown, choice.value)}]);
    more.hidden = shown.length <= MOST;
    replace(more, `The first ${MOST} of ${shown.length} trials are drawn; choose some of them to see others.`);
  };
  choice.addEventListener('change', () => {
    scope.setQuery({metric: choice.value});
    show();
  });
  element.update = (next) => {
    shown = next.filter(hasRun);
    show();
  };
  element.update(trials);
  return element;
}
