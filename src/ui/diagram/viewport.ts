/** A window onto a drawing: wheel, pinch, drag and keys move it and change its scale. */
import { svg } from '../parts/dom.ts';
import type { DrawnScene, Seen } from './drawing.ts';

const least = 0.02;
const most = 4;
const step = 1.3;

interface Extent {
  readonly width: number;
  readonly height: number;
}

export interface Viewport {
  readonly element: SVGSVGElement;
  show(drawing: DrawnScene, extent: Extent): void;
  fit(): void;
  zoom(factor: number): void;
  /** Brings a place to the middle; the scale is at least one that can be read. */
  center(x: number, y: number): void;
  /** returns the scale at which the whole scene is visible */
  fitScale(extent: Extent): number;
}

export function createViewport(
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
