/** Questions to a trial's network that a worker answers: why, and what. */

import {ApiError, get, send, upload} from '../api.js';
import {pause} from '../connection.js';

const ASK_AGAIN = 700;

/** Waits for an answer that was not there at once; a refusal throws as one that came at once does. */
async function answered(row, path, signal) {
  let now = row;
  while (now.state === 'waiting') {
    await pause(ASK_AGAIN, signal);
    now = await get(`${path}/${now.id}`, {signal});
  }
  if (now.state === 'refused') {
    throw new ApiError({status: 422, code: now.code, detail: now.error});
  }
  return now;
}

/**
 * Maps or an activation of an item of the trial's data set.
 * @param {string} trialId
 * @param {{item: number, method?: string, layer?: string, class?: string}} question, and how a method hides
 * @returns {Promise<Object>} {id, result}
 */
export async function explainItem(trialId, question, signal) {
  const row = await send('POST', `/v1/trials/${trialId}/explanations?wait=25`, question, {signal});
  return answered(row, '/v1/explanations', signal);
}

/** @returns {Object[]} the arrays of an answer, each with its `path` */
export function rowsOf({id, result}) {
  return result.arrays.map((row) => ({...row, path: `/v1/explanations/${id}/${row.n}`}));
}

/** The same of a picture that somebody chose. */
export async function explainPicture(trialId, content, signal) {
  const row = await upload('POST', `/v1/trials/${trialId}/explanations?wait=25`, content, {signal});
  return answered(row, '/v1/explanations', signal);
}

/**
 * What the network says of a picture, or of a sequence as JSON.
 * @param {Blob} content
 * @returns {Promise<Object>} {id, result}
 */
export async function predict(trialId, content, signal) {
  const row = await upload('POST', `/v1/trials/${trialId}/predict?wait=25`, content, {signal});
  return answered(row, '/v1/predictions', signal);
}

/** @returns {string} where an item stands: in the trial, by its split, else in the data set */
export function placeWords({part, trial_part: own}) {
  return own ? `in the ${own === 'train' ? 'training' : own} part of the trial` : `in the ${part} part of the data set`;
}
