import {poll} from '../../api.js';
import {h} from '../../dom.js';
import {jobTable} from '../../parts/jobs.js';

const FIELDS = 'id,number,kind,name,experiment,dataset,state,paused,archived,labels,headline_metric,target_parameters,trial_count,counts,progress,best,created_at,started_at,finished_at';

/**
 * The newest jobs that use a data set, kept up to date.
 * @param {string} id
 * @param {{signal: AbortSignal}} scope
 * @returns {HTMLElement} hidden while there are none
 */
export function jobsOf(id, {signal}) {
  const table = jobTable({withExperiment: true});
  const element = h('div', {class: 'card', hidden: true, 'data-test': 'dataset-jobs'}, h('h2', {}, 'Jobs that use it'), table);
  const show = ({items}) => {
    element.hidden = items.length === 0;
    table.show(items);
  };
  poll(`/v1/jobs?dataset=${id}&archived=any&limit=20&fields=${FIELDS}`, show, {signal, interval: 5000});
  return element;
}
