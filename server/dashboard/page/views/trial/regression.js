import {get, poll} from '../../api.js';
import {histogram} from '../../charts/histogram.js';
import {lines} from '../../charts/lines.js';
import {scatter} from '../../charts/scatter.js';
import {h, replace} from '../../dom.js';
import {count, metricName, number, plural} from '../../format.js';
import {sampleWord} from '../../parts/data_kind.js';
import {download} from '../../parts/download.js';
import {failure} from '../../parts/failure.js';
import {choice} from '../../parts/field.js';
import {sequenceTable} from '../../parts/sequence_table.js';

const FIGURES = ['rmse', 'mae', 'r2', 'mean_max_absolute_error', 'last_step_rmse', 'phm08_score'];
/** Parts in the order in which they tell most. */
const PARTS = ['validation', 'test', 'train'];

function figures(evaluation) {
  const known = FIGURES.filter((key) => evaluation[key] !== undefined);
  return h('div', {class: 'figures', 'data-test': 'regression-figures'}, known.map((key) =>
    h('div', {class: 'figure'}, h('b', {}, number(evaluation[key])), h('span', {class: 'small muted'}, metricName(key)))));
}

function sequenceCard(row) {
  const every = row.targets.map((_, i) => i + 1);
  const steps = row.targets.length === 1 ? [row.length] : every;
  const series = [{name: 'true', values: row.targets}, {name: 'predicted', values: row.predictions}];
  const words = `${row.name}: ${plural(row.length, 'step')}, RMSE ${number(row.rmse)}, largest error ${number(row.worst.error)} at step ${row.worst.step}`;
  return [h('h2', {}, `Sequence ${row.name}`), h('p', {class: 'muted small', 'data-test': 'sequence-words'}, words),
    lines({steps, series, mark: row.worst.step}, {xLabel: 'step', yLabel: 'target', label: words})];
}

/** All of one part; a newly chosen sequence is shown beside it. */
function partView(id, evaluation, scope) {
  const {part} = evaluation;
  const path = `/v1/trials/${id}/predictions?part=${part}`;
  const drawn = h('div', {class: 'card'});
  const spread = h('div', {class: 'card'});
  const sequence = h('div', {class: 'card wide', 'data-test': 'sequence'});
  const pick = (sample) => choose(sample).then(() => sequence.scrollIntoView({block: 'nearest'}));
  const table = sequenceTable(`${path}&sort=-worst_error&limit=50`, pick, scope.signal);
  const say = (error, where) => scope.signal.aborted || replace(where, failure(error));
  const choose = (sample) => {
    scope.setQuery({sequence: sample});
    table.mark(sample);
    return get(`${path}&sequence=${sample}`, scope).then(({items}) => replace(sequence, sequenceCard(items[0])))
      .catch((error) => say(error, sequence));
  };
  get(`/v1/trials/${id}/regression?part=${part}`, scope).then(({points, errors, steps}) => {
    const label = (i) => `sequence ${points.sample[i]}, step ${points.step[i]}: true ${number(points.target[i])}, predicted ${number(points.predicted[i])}`;
    replace(drawn, h('h2', {}, 'Predicted against true'),
      scatter(points, {label, total: steps, onPick: (i) => pick(points.sample[i])}),
      h('p', {class: 'muted small'}, `${count(points.target.length)} of ${plural(steps, 'step')}, taken evenly. A click shows the sequence.`));
    replace(spread, h('h2', {}, 'Errors'), histogram(errors, {xLabel: 'predicted − true', yLabel: 'steps'}),
      errors.not_finite ? h('p', {class: 'warning'}, `${plural(errors.not_finite, 'step')} without a finite error.`) : null);
  }).catch((error) => say(error, drawn));
  const asked = scope.query.get('sequence');
  table.first.then((row) => (asked ?? row) && choose(asked ?? row.sample)).catch((error) => say(error, sequence));
  return h('div', {class: 'stack'}, figures(evaluation),
    h('div', {class: 'regression'}, drawn, h('div', {class: 'stack'}, spread, table), sequence));
}

/** Predicted against true, of a regression over sequences. */
export const tab = {
  name: 'regression',
  label: 'Predictions',
  applies: (trial, job) => job.kind === 'sequence_regression',
  show(trial, job, scope) {
    const body = h('div', {class: 'stack'}, h('p', {class: 'empty'}, 'There is something to see when the trial is evaluated.'));
    let shown = '';
    const fill = ({items}) => {
      const found = PARTS.map((part) => items.find((one) => one.part === part)).filter(Boolean);
      const key = found.map(({part, created_at: at}) => part + at).join();
      if (found.length === 0 || key === shown) {
        return; // a poll brings the job's other trials too
      }
      shown = key;
      const content = h('div', {});
      const save = h('button', {'data-test': 'save-csv', on: {
        click: () => download(`/v1/trials/${trial.id}/predictions.csv?part=${parts.value}`, `predictions-${parts.value}.csv`, {signal: scope.signal}),
      }}, 'Save as CSV');
      const show = (part) => replace(content, partView(trial.id, found.find((one) => one.part === part) ?? found[0], scope));
      const parts = choice(found.map(({part, sample_count: n}) => [part, `${part}, ${plural(n, sampleWord(job.kind))}`]), {
        'aria-label': 'Part', 'data-test': 'part', value: scope.query.get('part') ?? found[0].part,
        on: {change: () => { scope.setQuery({part: parts.value, sequence: null}); show(parts.value); }},
      });
      replace(body, h('div', {class: 'row'}, parts, save), content);
      show(parts.value);
    };
    poll(`/v1/trials/${trial.id}/evaluations`, fill, {signal: scope.signal, interval: 4000});
    return body;
  },
};
