import {inquire} from '../../api.js';
import {h, replace} from '../../dom.js';
import {ended} from '../../format.js';
import {download} from '../../parts/download.js';
import {keepDraft} from '../../parts/draft.js';
import {failure} from '../../parts/failure.js';
import {networkReport} from '../../parts/network_report.js';

const TRAINED = new Set(['completed', 'stopped']);

/** A network is kept at the end of a training that made a step. */
function hasWeights({state, step}) {
  return TRAINED.has(state) && step > 0;
}

/** What the service says, as a sentence: that the parameter `format` is at fault helps nobody here. */
function refusal(error) {
  return failure(error.code === 'not_supported' ? new Error(ended(error.message)) : error);
}

/** A button that saves a file; what goes wrong is said in a place below. */
function saveButton(text, name, path, file, wrong, signal) {
  const button = h('button', {type: 'button', 'data-test': name, on: {click: async () => {
    button.disabled = true;
    replace(wrong);
    try {
      await download(path, file, {signal});
    } catch (error) {
      signal.aborted || replace(wrong, refusal(error));
    }
    button.disabled = false;
  }}}, text);
  return button;
}

function saves(trial, wrong, signal) {
  const path = `/v1/trials/${trial.id}/network`;
  return [
    saveButton('Export as ONNX', 'network-onnx', `${path}?format=onnx`, `${trial.id}.onnx`, wrong, signal),
    saveButton('Download weights (safetensors)', 'network-download', path, `${trial.id}.safetensors`, wrong, signal),
  ];
}

function tools(trial, network, dataset, wrong, signal) {
  const edit = () => {
    keepDraft(network);
    location.hash = `#/networks/draft?dataset=${dataset}`;
  };
  return h('div', {class: 'row'}, h('button', {type: 'button', 'data-test': 'network-edit-copy', on: {click: edit}}, 'Edit a copy'),
    hasWeights(trial) ? saves(trial, wrong, signal) : null);
}

/** The network that the trial trains, as the service reads it. */
export const tab = {
  name: 'network',
  label: 'Network',
  applies: (trial) => Boolean(trial.resolved?.network),
  show(trial, job, {signal}) {
    const body = h('div', {class: 'stack'});
    const wrong = h('div', {});
    const {network, dataset, training} = trial.resolved;
    const id = dataset?.id ?? dataset ?? job.dataset?.id;
    inquire('/v1/networks/analyze', {network, dataset: id, batch_size: training.batch_size}, {signal})
      .then((report) => replace(body, tools(trial, network, id, wrong, signal), wrong, networkReport(report)))
      .catch((error) => signal.aborted || replace(body, failure(error)));
    return body;
  },
};
