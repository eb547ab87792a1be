import {send} from '../../api.js';
import {h, replace} from '../../dom.js';
import {keepDraft} from '../../parts/draft.js';
import {failure} from '../../parts/failure.js';
import {networkReport} from '../../parts/network_report.js';

function tools(network, dataset) {
  const open = (address) => () => {
    keepDraft(network);
    location.hash = address;
  };
  return h('div', {class: 'row'}, h('button', {
    type: 'button', 'data-test': 'network-edit-copy', on: {click: open(`#/networks/draft?dataset=${dataset}`)},
  }, 'Edit a copy'));
}

/** The network that the trial trains, as the service reads it. */
export const tab = {
  name: 'network',
  label: 'Network',
  applies: (trial) => Boolean(trial.resolved?.network),
  show(trial, job, {signal}) {
    const body = h('div', {class: 'stack'});
    const {network, dataset, training} = trial.resolved;
    const id = dataset?.id ?? dataset ?? job.dataset?.id;
    send('POST', '/v1/networks/analyze', {network, dataset: id, batch_size: training.batch_size}, {signal})
      .then((report) => replace(body, tools(network, id), networkReport(report)))
      .catch((error) => signal.aborted || replace(body, failure(error)));
    return body;
  },
};
