/**
 * The points that charts of curves draw: of each trial the metrics that are wanted, thinned by the
 * service to what a chart can show, of the range that is seen; read again and again while a trial runs.
 */

import {get, poll} from '../api.js';
import {curveOf} from '../charts/curve_data.js';

const POINTS = 1500; // of a curve: about what the pixels of a chart can tell apart
const EDGE = 0.02; // beyond what is seen, so that lines go on to the edge

function pathOf({trial, metrics}, range) {
  const query = new URLSearchParams({names: metrics.join(','), max_points: POINTS});
  if (range) {
    const beyond = Math.ceil(EDGE * (range[1] - range[0])) + 1;
    query.set('after_step', Math.max(-1, range[0] - beyond - 1));
    query.set('to_step', Math.max(1, range[1] + beyond));
  }
  return `/v1/trials/${trial}/metrics?${query}`;
}

/**
 * @param {AbortSignal} signal
 * @param {function()} onChange something new is to be drawn
 * @param {function(Error)} onError
 * @returns {{want: function({trial, metrics, isLive}[]), see: function(?number[]), curve: function(string, string)}}
 *   want: these trials, others no more; see: another range of steps; curve: of a trial and a metric,
 *   with unit and direction, or undefined
 */
export function curveFeed(signal, onChange, onError) {
  const readers = new Map(); // by trial: {wish, stop, metrics}
  let range = null;

  const take = (reader, answer) => {
    reader.metrics = new Map(Object.entries(answer.metrics).map(([name, column]) =>
      [name, {...curveOf(column), unit: column.unit, direction: column.direction}]));
    onChange();
  };
  const start = (reader) => {
    reader.stop?.abort();
    reader.stop = new AbortController();
    const options = {signal: AbortSignal.any([signal, reader.stop.signal]), onError};
    const path = pathOf(reader.wish, range);
    if (reader.wish.isLive) {
      poll(path, (answer) => take(reader, answer), options);
    } else {
      get(path, options).then((answer) => take(reader, answer)).catch((error) => options.signal.aborted || onError(error));
    }
  };
  return {
    want(wishes) {
      const kept = new Set(wishes.map(({trial}) => trial));
      for (const [trial, reader] of readers) {
        if (!kept.has(trial)) {
          reader.stop.abort();
          readers.delete(trial);
        }
      }
      for (const wish of wishes) {
        const reader = readers.get(wish.trial) ?? {};
        if (JSON.stringify(reader.wish) !== JSON.stringify(wish)) {
          readers.set(wish.trial, reader);
          reader.wish = wish;
          start(reader);
        }
      }
    },
    see(seen) {
      range = seen;
      readers.forEach(start);
    },
    curve: (trial, metric) => readers.get(trial)?.metrics?.get(metric),
  };
}
