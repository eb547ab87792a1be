import {inquire} from '../../api.js';
import {h, replace} from '../../dom.js';
import {download} from '../../parts/download.js';
import {keepDraft} from '../../parts/draft.js';
import {failure} from '../../parts/failure.js';
import {networkReport} from '../../parts/network_report.js';

const TRAINED = new Set(['completed', 'stopped']);

function tools(trial, network, dataset, say) {
  const open = (address) => () => {
    keepDraft(network);
    location.hash = address;
  };
  return h('div', {class: 'row'}, h('button', {
    type: 'button', 'data-test': 'network-edit-copy', on: {click: open(`#/networks/draft?dataset=${dataset}`)},
  }, 'Edit a copy'), TRAINED.has(trial.state) ? h('button', {
    type: 'button', 'data-test': 'network-download', on: {click: () => download(`/v1/trials/${trial.id}/network`, `${trial.id}.safetensors`).catch(say)},
  }, 'Download its weights') : null);
}

/** The network that the trial trains, as the service reads it. */
export const tab = {
  name: 'network',
  label: 'Network',
  applies: (trial) => Boolean(trial.resolved?.network),
  show(trial, job, {signal}) {
    const body = h('div', {class: 'stack'});
    const wrong = h('div', {});
    const say = (error) => signal.aborted || replace(wrong, failure(error));
    const {network, dataset, training} = trial.resolved;
    const id = dataset?.id ?? dataset ?? job.dataset?.id;
    inquire('/v1/networks/analyze', {network, dataset: id, batch_size: training.batch_size}, {signal})
      .then((report) => replace(body, tools(trial, network, id, say), wrong, networkReport(report)))
      .catch((error) => { replace(body, wrong); say(error); });
    return body;
  },
};
