/**
 * Where the nodes of a directed graph go: rows by the longest way from an input, in each row an order
 * with few crossings, places close to the neighbours. Edges over several rows pass through a cell of
 * their own in each of them, so that they run beside nodes and not across.
 */

const ORDER_SWEEPS = 6;
const PLACE_SWEEPS = 8;
const EDGE_WIDTH = 14;
/** Cells of edges, at most: a network in which everything is joined to everything has millions. */
const CELLS = 4000;

/** Longest way to each node; an edge that closes a circle (of a network with errors) does not count. */
function ranksOf(nodes) {
  const ranks = new Map();
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const open = new Set();
  const visit = (id) => {
    if (!ranks.has(id)) {
      open.add(id);
      const before = byId.get(id).inputs.filter((input) => byId.has(input) && !open.has(input));
      const highest = Math.max(-1, ...before.map(visit));
      open.delete(id);
      ranks.set(id, highest + 1);
    }
    return ranks.get(id);
  };
  nodes.forEach((node) => visit(node.id));
  return ranks;
}

function join(from, to) {
  from.below.push(to);
  to.above.push(from);
}

/** One cell for each row that the edge crosses. */
function threadEdge(rows, from, to) {
  const cells = [from];
  for (let rank = from.rank + 1; rank < to.rank; rank++) {
    const cell = {rank, width: EDGE_WIDTH, height: 0, above: [], below: [], node: null};
    rows[rank].push(cell);
    join(cells.at(-1), cell);
    cells.push(cell);
  }
  join(cells.at(-1), to);
  return {from: from.node.id, to: to.node.id, cells: [...cells, to]};
}

/** Short edges first; when there are too many cells, the longest run straight, across what is between. */
function threadEdges(rows, pairs) {
  let left = CELLS;
  const span = ([from, to]) => to.rank - from.rank;
  return [...pairs].sort((a, b) => span(a) - span(b)).map(([from, to]) => {
    left -= to.rank - from.rank;
    return left > 0 ? threadEdge(rows, from, to) : {from: from.node.id, to: to.node.id, cells: [from, to]};
  });
}

function makeRows(nodes) {
  const ranks = ranksOf(nodes);
  const rows = Array.from({length: Math.max(0, ...ranks.values()) + 1}, () => []);
  const cells = new Map();
  for (const node of nodes) {
    const rank = ranks.get(node.id);
    const cell = {rank, width: node.width, height: node.height, above: [], below: [], node};
    rows[rank].push(cell);
    cells.set(node.id, cell);
  }
  const pairs = nodes.flatMap((node) => node.inputs
    .filter((input) => cells.has(input) && ranks.get(input) < ranks.get(node.id))
    .map((input) => [cells.get(input), cells.get(node.id)]));
  return {rows, cells, edges: threadEdges(rows, pairs)};
}

function number(row) {
  row.forEach((cell, i) => { cell.order = i; });
}

/** Each row in the order of the middles of its neighbours in the row before, downwards and upwards. */
function orderRows(rows) {
  rows.forEach(number);
  const sort = (row, side) => {
    for (const cell of row) {
      const orders = cell[side].map((other) => other.order);
      cell.middle = orders.length ? orders.reduce((a, b) => a + b) / orders.length : cell.order;
    }
    row.sort((a, b) => a.middle - b.middle);
    number(row);
  };
  for (let sweep = 0; sweep < ORDER_SWEEPS; sweep++) {
    rows.forEach((row) => sort(row, 'above'));
    [...rows].reverse().forEach((row) => sort(row, 'below'));
  }
  rows.forEach((row) => sort(row, 'above'));
}

/** How strongly two cells pull: long edges are to be straight first, then chains of nodes. */
function pull(a, b) {
  return a.node && b.node ? 3 : a.node || b.node ? 1 : 8;
}

/** Of all places that keep order and distance the ones nearest to what is wished (pool adjacent violators). */
function settle(row, gap) {
  let offset = 0;
  const pools = [];
  row.forEach((cell, i) => {
    offset += i ? (row[i - 1].width + cell.width) / 2 + gap : 0;
    cell.offset = offset;
    pools.push({sum: (cell.wish - offset) * cell.weight, weight: cell.weight, n: 1});
    while (pools.length > 1 && pools.at(-2).sum / pools.at(-2).weight > pools.at(-1).sum / pools.at(-1).weight) {
      const last = pools.pop();
      const into = pools.at(-1);
      into.sum += last.sum;
      into.weight += last.weight;
      into.n += last.n;
    }
  });
  let i = 0;
  for (const pool of pools) {
    for (const end = i + pool.n; i < end; i++) {
      row[i].x = pool.sum / pool.weight + row[i].offset;
    }
  }
}

function placeRow(row, sides, gap) {
  for (const cell of row) {
    let sum = 0;
    let weight = 0;
    for (const other of sides.flatMap((side) => cell[side])) {
      sum += other.x * pull(cell, other);
      weight += pull(cell, other);
    }
    cell.wish = weight ? sum / weight : cell.x;
    cell.weight = weight || 0.1;
  }
  settle(row, gap);
}

function placeAcross(rows, gap) {
  for (const row of rows) {
    row.forEach((cell) => Object.assign(cell, {x: 0, wish: 0, weight: 1}));
    settle(row, gap);
  }
  for (let sweep = 0; sweep < PLACE_SWEEPS; sweep++) {
    rows.forEach((row) => placeRow(row, sweep < PLACE_SWEEPS / 2 ? ['above'] : ['above', 'below'], gap));
    [...rows].reverse().forEach((row) => placeRow(row, sweep < PLACE_SWEEPS / 2 ? ['below'] : ['above', 'below'], gap));
  }
}

function placeDown(rows, gap) {
  let y = 0;
  for (const row of rows) {
    const height = Math.max(...row.map((cell) => cell.height));
    row.forEach((cell) => Object.assign(cell, {top: y, bottom: y + height}));
    y += height + gap;
  }
  return y - gap;
}

/** From the foot of one node to the head of another; through a row it runs upright. */
function pathOf({cells}) {
  const points = cells.flatMap((cell, i) => {
    const head = {x: cell.x, y: cell.top};
    const foot = {x: cell.x, y: cell.node ? cell.top + cell.height : cell.bottom};
    return i === 0 ? [foot] : i === cells.length - 1 ? [head] : [head, foot];
  });
  let path = `M${points[0].x} ${points[0].y}`;
  for (let i = 1; i < points.length; i++) {
    const [a, b] = [points[i - 1], points[i]];
    const y = (a.y + b.y) / 2;
    path += a.x === b.x ? `L${b.x} ${b.y}` : `C${a.x} ${y} ${b.x} ${y} ${b.x} ${b.y}`;
  }
  return path;
}

/**
 * Lays a graph out from top to bottom.
 * @param {{id: string, width: number, height: number, inputs: string[]}[]} nodes inputs that are no
 *   node are left out
 * @param {{across: number, down: number}} gaps
 * @returns {{width: number, height: number, places: Map<string, {x: number, y: number}>,
 *   edges: {from: string, to: string, path: string}[]}} places are the middles of the upper sides
 */
export function layout(nodes, gaps) {
  const {rows, cells, edges} = makeRows(nodes);
  orderRows(rows);
  placeAcross(rows, gaps.across);
  const height = placeDown(rows, gaps.down);
  const every = rows.flat();
  const left = every.reduce((least, cell) => Math.min(least, cell.x - cell.width / 2), Infinity);
  every.forEach((cell) => { cell.x -= left; });
  return {
    width: every.reduce((most, cell) => Math.max(most, cell.x + cell.width / 2), 0),
    height,
    places: new Map([...cells].map(([id, {x, top}]) => [id, {x, y: top}])),
    edges: edges.map((edge) => ({from: edge.from, to: edge.to, path: pathOf(edge)})),
  };
}
