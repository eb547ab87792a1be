/** A job's curves over each other: those of its first, best or running trials. */

import {get} from '../../api.js';
import {h} from '../../dom.js';
import {trainedWord} from '../../parts/data_kind.js';
import {CURVES_MOST, jobCurves} from '../../parts/job_curves.js';

const CHOICES = {
  index: ['Trials in order', 'sort=index'],
  best: ['The best trials', 'sort=best'],
  running: ['Running trials', 'sort=index&state=running'],
};
const FIELDS = 'id,index,parameters,seed,state,step';

/**
 * @param {Object} job
 * @param {{signal, query, setQuery}} scope
 * @returns {HTMLElement} with a method `refresh()`
 */
export function curves(job, scope) {
  const {signal, query, setQuery} = scope;
  const asked = query.get('trials');
  const choice = h('select', {'aria-label': 'Which trials', 'data-test': 'curve-trials', value: asked in CHOICES ? asked : 'index'},
    Object.entries(CHOICES).map(([value, [label]]) => h('option', {value}, label)));
  const charts = jobCurves([], scope, {isRegression: job.kind === 'sequence_regression', word: trainedWord(job.kind, job.resolved), total: job.trial_count, extra: [choice]});
  charts.refresh = async () => {
    const path = `/v1/jobs/${job.id}/trials?${CHOICES[choice.value][1]}&discarded=false&limit=${CURVES_MOST}&fields=${FIELDS}`;
    const {items} = await get(path, {signal});
    if (!signal.aborted) {
      charts.update(items);
    }
  };
  choice.addEventListener('change', () => {
    setQuery({trials: choice.value === 'index' ? null : choice.value});
    charts.refresh().catch((error) => signal.aborted || console.error(error));
  });
  return charts;
}
