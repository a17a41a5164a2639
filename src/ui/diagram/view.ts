/** The diagram of a schema: all of it, or a table with its neighbours; a list of the tables beside it describes the same in words. */
import type { DiagramRecord } from '../../service/catalog/diagram.ts';
import { call, getJson } from '../shell/client.ts';
import {
  actionButton,
  saveFile,
  searchField,
  selectOf,
  fill,
  freshId,
  h,
  type Content,
  count,
  counted,
  empty,
  svg,
} from '../parts/controls.ts';
import { logicalQuery, type PartContext } from '../schemas/part-context.ts';
import { linkTo } from '../shell/views.ts';
import {
  drawScene,
  type DrawnScene,
  documentsTable,
  focusScene,
  mainTable,
  wholeScene,
  type Scene,
  type Seen,
} from './drawing.ts';

/** below it the whole is no more than a pattern: the drawing begins with a table */
const legible = 0.3;
const everyStep = 99;

const depths = [
  { value: '1', label: '1 step' },
  { value: '2', label: '2 steps' },
  { value: '3', label: '3 steps' },
  { value: '4', label: '4 steps' },
  { value: String(everyStep), label: 'all that are connected' },
];

export async function diagramPart(context: PartContext): Promise<Content> {
  const { schema, idLschma, query, signal } = context;
  const diagram = await getJson<DiagramRecord>(
    `v2/diagram/get/${schema.id_sch}${logicalQuery(context)}`,
    signal,
  );
  if (diagram.tables.length === 0) return empty('This schema has no tables.');
  let withDocuments = false;
  let whole = wholeScene(diagram, withDocuments);
  let focused: string | null = whole.boxes.some(({ name }) => name === query.get('table'))
    ? query.get('table')
    : null;
  let depth = Number(query.get('depth')) || 1;
  let scene: Scene = whole;
  let drawing: DrawnScene | null = null;

  const keysId = freshId('keys');
  const scaleText = h('span', { class: 'scale' });
  const viewport = createViewport(
    `Diagram of ${schema.name}`,
    keysId,
    (scale) => (scaleText.textContent = `${Math.round(scale * 100)} %`),
    signal,
  );
  const shownCount = h('p', { class: 'hint', role: 'status' });
  const panel = h('div', { class: 'neighbours' });
  const names = whole.boxes.map(({ name }) => name).toSorted((a, b) => a.localeCompare(b));
  const list = h(
    'ul',
    {},
    names.map((name) =>
      h('li', {}, h('button', { type: 'button', class: 'link', onclick: () => focus(name) }, name)),
    ),
  );
  const depthChoice = selectOf('Neighbours', depths, String(depth), (value) => {
    depth = Number(value);
    draw();
  });
  const documents = h('input', {
    type: 'checkbox',
    id: freshId('documents'),
    onchange: () => {
      withDocuments = documents.checked;
      whole = wholeScene(diagram, withDocuments);
      if (!withDocuments && focused === documentsTable) focused = null;
      draw();
    },
  });
  const all = h('button', { type: 'button', onclick: () => focus(null) }, 'Whole diagram');
  viewport.element.addEventListener('click', (event) => {
    const name = tableAt(event);
    if (name !== null) select(name);
  });
  viewport.element.addEventListener('dblclick', (event) => {
    const name = tableAt(event);
    if (name !== null) focus(name);
  });
  viewport.element.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') focus(null);
  });
  const search = searchField(`Search ${counted(names.length, 'table')}`, (text) => {
    for (const item of list.children)
      (item as HTMLElement).hidden = !item.textContent.toLowerCase().includes(text);
  });
  search.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') list.querySelector<HTMLElement>('li:not([hidden]) button')?.click();
  });
  // the stage has its size once it is on the page
  requestAnimationFrame(() => {
    if (signal.aborted) return;
    if (focused === null && viewport.fitScale(whole) < legible) focused = mainTable(whole);
    draw();
  });

  return h(
    'div',
    { class: 'diagram' },
    h(
      'div',
      { class: 'bar' },
      all,
      depthChoice.field,
      h('span', { class: 'check' }, documents, h('label', { for: documents.id }, 'Show _documents')),
      h(
        'div',
        { class: 'row', role: 'group', 'aria-label': 'Scale' },
        h('button', { type: 'button', 'aria-label': 'Smaller', onclick: () => viewport.zoom(1 / 1.3) }, '−'),
        scaleText,
        h('button', { type: 'button', 'aria-label': 'Larger', onclick: () => viewport.zoom(1.3) }, '+'),
        h('button', { type: 'button', onclick: () => viewport.fit() }, 'Fit'),
      ),
      actionButton('Download SVG', async () => {
        const answer = await call(`v2/diagram/get/${schema.id_sch}${logicalQuery(context)}`, {
          accept: 'image/svg+xml',
          signal,
        });
        saveFile(`${schema.name.replaceAll('/', '_')}.svg`, await answer.blob());
      }),
    ),
    h(
      'div',
      { class: 'canvas' },
      h('nav', { class: 'side', 'aria-label': 'Tables of the diagram' }, search, list),
      h('div', { class: 'board' }, viewport.element, panel),
    ),
    shownCount,
    h(
      'p',
      { class: 'hint', id: keysId },
      'Wheel or pinch: scale. Drag or arrow keys: move. + and −: scale, 0: all of it, Escape: the whole diagram. Click: the lines of a table. Double click, or a name in the list: a table with its neighbours.',
    ),
  );

  function focus(name: string | null): void {
    focused = name;
    draw();
  }

  function draw(): void {
    scene = focused === null ? whole : focusScene(whole, focused, depth);
    drawing = drawScene(scene);
    viewport.show(drawing, scene);
    all.disabled = focused === null;
    depthChoice.input.disabled = focused === null;
    for (const button of list.querySelectorAll('button'))
      button.setAttribute('aria-pressed', String(button.textContent === focused));
    history.replaceState(
      null,
      '',
      linkTo(['schemas', schema.id_sch, 'diagram'], {
        l: idLschma,
        table: focused,
        depth: focused === null || depth === 1 ? null : depth,
      }),
    );
    shownCount.textContent =
      focused === null
        ? `All ${counted(scene.boxes.length, 'table')}.`
        : `${focused} and ${counted(scene.boxes.length - 1, 'neighbour')} of ${count(whole.boxes.length)} tables.`;
    select(focused);
    const box = scene.boxes.find(({ name }) => name === focused);
    if (box !== undefined && viewport.fitScale(scene) < legible)
      viewport.center(box.x + box.width / 2, box.y + Math.min(box.height / 2, 200));
  }

  /** Marks a table and its lines, and describes its relations. */
  function select(name: string | null): void {
    drawing?.mark(name);
    panel.hidden = name === null;
    if (name === null) return;
    const parents = new Set(
      whole.relations.flatMap((one) => (one.from_table === name ? [one.to_table] : [])),
    );
    const children = new Set(
      whole.relations.flatMap((one) => (one.to_table === name ? [one.from_table] : [])),
    );
    fill(
      panel,
      h(
        'div',
        { class: 'row' },
        h('strong', {}, name),
        h('a', { href: linkTo(['schemas', schema.id_sch, 'tables', name], { l: idLschma }) }, 'Columns'),
        name === focused
          ? null
          : h(
              'button',
              { type: 'button', class: 'small', onclick: () => focus(name) },
              'Only its neighbours',
            ),
      ),
      neighbours('Above', parents, focus),
      neighbours('Below', children, focus),
    );
  }
}

/** Name of the table that an event happened on. */
function tableAt({ target }: Event): string | null {
  return target instanceof Element
    ? (target.closest('[data-table]')?.getAttribute('data-table') ?? null)
    : null;
}

function neighbours(label: string, tables: ReadonlySet<string>, choose: (name: string) => void): Content {
  if (tables.size === 0) return null;
  const buttons = [...tables].map((table) => [
    h('button', { type: 'button', class: 'link', onclick: () => choose(table) }, table),
    ' ',
  ]);
  return h('p', {}, `${label}: `, buttons);
}

// A window onto a drawing: wheel, pinch, drag and keys move it and change its scale.

const least = 0.02;
const most = 4;
const step = 1.3;

interface Extent {
  readonly width: number;
  readonly height: number;
}

interface Viewport {
  readonly element: SVGSVGElement;
  show(drawing: DrawnScene, extent: Extent): void;
  fit(): void;
  zoom(factor: number): void;
  /** Brings a place to the middle; the scale is at least one that can be read. */
  center(x: number, y: number): void;
  /** returns the scale at which the whole scene is visible */
  fitScale(extent: Extent): number;
}

function createViewport(
  label: string,
  keysId: string,
  onScale: (scale: number) => void,
  signal: AbortSignal,
): Viewport {
  const element = svg('svg', {
    class: 'stage',
    tabindex: 0,
    role: 'application',
    'aria-roledescription': 'zoomable diagram',
    'aria-label': label,
    'aria-describedby': keysId,
  });
  let drawing: DrawnScene | null = null;
  let extent: Extent = { width: 1, height: 1 };
  let [scale, x, y] = [1, 0, 0];
  let isDue = false;
  const pointers = new Map<number, { readonly x: number; readonly y: number }>();

  const apply = (): void => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      drawing?.group.setAttribute('transform', `translate(${x} ${y}) scale(${scale})`);
      drawing?.see(seen());
      onScale(scale);
    });
  };
  const seen = (): Seen => {
    const { clientWidth: width, clientHeight: height } = element;
    return {
      scale,
      left: -x / scale,
      top: -y / scale,
      right: (width - x) / scale,
      bottom: (height - y) / scale,
    };
  };
  /** Zooms around a place of the window, which stays fixed. */
  const zoomAt = (factor: number, px: number, py: number): void => {
    const next = Math.min(most, Math.max(least, scale * factor));
    x = px - ((px - x) * next) / scale;
    y = py - ((py - y) * next) / scale;
    scale = next;
    apply();
  };
  const middle = (): [number, number] => [element.clientWidth / 2, element.clientHeight / 2];
  const fitScale = ({ width, height }: Extent): number =>
    Math.min(
      1,
      Math.max(1, element.clientWidth - 16) / width,
      Math.max(1, element.clientHeight - 16) / height,
    );
  const fit = (): void => {
    scale = Math.max(least, fitScale(extent));
    x = (element.clientWidth - extent.width * scale) / 2;
    y = (element.clientHeight - extent.height * scale) / 2;
    apply();
  };

  element.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      const bounds = element.getBoundingClientRect();
      // a pinch on a touchpad comes as a wheel with the control key, in finer steps
      const speed = event.ctrlKey ? 0.01 : event.deltaMode === 0 ? 0.0015 : 0.05;
      zoomAt(Math.exp(-event.deltaY * speed), event.clientX - bounds.left, event.clientY - bounds.top);
    },
    { passive: false },
  );
  element.addEventListener('pointerdown', (event) => {
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  });
  element.addEventListener('pointermove', (event) => {
    const before = pointers.get(event.pointerId);
    if (before === undefined) return;
    const moved = Math.abs(event.clientX - before.x) + Math.abs(event.clientY - before.y);
    // a press that hardly moves is a click on a table
    if (pointers.size === 1 && moved < 4 && !element.hasPointerCapture(event.pointerId)) return;
    element.setPointerCapture(event.pointerId);
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other === undefined) {
      x += event.clientX - before.x;
      y += event.clientY - before.y;
      apply();
    } else {
      const distance = (one: { x: number; y: number }): number =>
        Math.hypot(one.x - other.x, one.y - other.y);
      const bounds = element.getBoundingClientRect();
      const now = { x: event.clientX, y: event.clientY };
      zoomAt(
        distance(now) / Math.max(1, distance(before)),
        (now.x + other.x) / 2 - bounds.left,
        (now.y + other.y) / 2 - bounds.top,
      );
    }
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  });
  for (const name of ['pointerup', 'pointercancel', 'lostpointercapture'] as const)
    element.addEventListener(name, (event) => pointers.delete(event.pointerId));
  element.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const keys: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => ((x += 60), apply()),
      ArrowRight: () => ((x -= 60), apply()),
      ArrowUp: () => ((y += 60), apply()),
      ArrowDown: () => ((y -= 60), apply()),
      '+': () => zoomAt(step, ...middle()),
      '=': () => zoomAt(step, ...middle()),
      '-': () => zoomAt(1 / step, ...middle()),
      '0': fit,
    };
    const act = keys[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  });
  const observer = new ResizeObserver(apply);
  observer.observe(element);
  signal.addEventListener('abort', () => observer.disconnect());

  return {
    element,
    fit,
    fitScale,
    zoom: (factor) => zoomAt(factor, ...middle()),
    show(next, size) {
      drawing = next;
      extent = size;
      element.replaceChildren(next.group);
      fit();
    },
    center(cx, cy) {
      scale = Math.max(scale, 0.8);
      x = element.clientWidth / 2 - cx * scale;
      y = element.clientHeight / 2 - cy * scale;
      apply();
    },
  };
}
