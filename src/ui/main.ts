/** The page: its frame, the key it works with, and the view that its address names. */
import { fill, h, announce, failureBox, showCurrent } from './parts/controls.ts';
import { keptKey } from './shell/key.ts';
import { serviceUrl } from './service-url.ts';
import { convertView } from './convert/view.ts';
import { jobListView } from './jobs/listing.ts';
import { jobView } from './jobs/details.ts';
import { schemaListView } from './schemas/listing.ts';
import { schemaView } from './schemas/details.ts';
import { healthSign } from './shell/health.ts';
import { keyDialog, keyForm, whoAsks } from './shell/sign-in.ts';
import { linkTo, readAddress, type View } from './shell/views.ts';
import { rowsView } from './rows/view.ts';
import { targetListView } from './rows/targets.ts';
import { watchListView } from './watches/listing.ts';
import { watchView } from './watches/details.ts';

const sections: readonly {
  readonly name: string;
  readonly label: string;
  readonly view: (path: readonly string[], query: URLSearchParams) => View;
}[] = [
  { name: 'convert', label: 'Convert', view: () => convertView },
  { name: 'jobs', label: 'Jobs', view: (path) => (path.length > 1 ? jobView : jobListView) },
  {
    name: 'rows',
    label: 'Rows',
    view: (_path, query) => (query.has('target') ? rowsView : targetListView),
  },
  { name: 'schemas', label: 'Schemas', view: (path) => (path.length > 1 ? schemaView : schemaListView) },
  { name: 'watches', label: 'Watches', view: (path) => (path.length > 1 ? watchView : watchListView) },
];

const main = h('main', { id: 'content', tabindex: '-1' });
const links = new Map(sections.map(({ name, label }) => [name, h('a', { href: linkTo([name]) }, label)]));
const bar = h('nav', { 'aria-label': 'Sections' }, [...links.values()]);
const keyButton = h('button', { type: 'button', class: 'quiet', onclick: () => void openKey() }, 'Key');
let organisation: Awaited<ReturnType<typeof whoAsks>> = null;
let leaving = new AbortController();

document.body.replaceChildren(
  h(
    'a',
    { class: 'skip', href: '#content', onclick: (event: Event) => (event.preventDefault(), main.focus()) },
    'Skip to the content',
  ),
  h(
    'header',
    { class: 'top' },
    h('a', { class: 'brand', href: linkTo([]) }, 'Conversion Job Service'),
    bar,
    h(
      'div',
      { class: 'tools' },
      healthSign(),
      ...helpLink(),
      h('a', { class: 'quiet', href: `${serviceUrl}doc` }, 'API reference'),
      keyButton,
    ),
  ),
  main,
  h('div', { id: 'announcements', class: 'sr', role: 'status', 'aria-live': 'polite' }),
);

addEventListener('hashchange', () => void show(true));
addEventListener('key-needed', (event) => {
  if (!main.hasAttribute('data-asks-key')) askForKey((event as CustomEvent<boolean>).detail);
});
void begin();

/** The page has the address of the documentation if it is built. */
function helpLink(): HTMLElement[] {
  const link = document.querySelector<HTMLLinkElement>('link[rel=help]');
  return link === null ? [] : [h('a', { class: 'quiet', href: link.href }, 'Help')];
}

async function begin(): Promise<void> {
  try {
    organisation = await whoAsks();
  } catch (error) {
    fill(
      main,
      h('h1', {}, 'Conversion Job Service'),
      failureBox(error, () => void begin()),
    );
    return;
  }
  // the key dialog has been requested by an event already
  if (organisation === null) return;
  main.removeAttribute('data-asks-key');
  keyButton.textContent = keptKey() === null ? organisation.name : `Key: ${organisation.name}`;
  keyButton.hidden = false;
  dispatchEvent(new Event('key-changed'));
  await show(false);
}

function askForKey(wasRefused: boolean): void {
  leaving.abort();
  main.setAttribute('data-asks-key', '');
  keyButton.hidden = true;
  document.title = 'Key · Conversion Job Service';
  const form = keyForm(wasRefused, () => void begin());
  fill(
    main,
    h('h1', { tabindex: '-1' }, 'A key, please'),
    h('p', {}, 'This service asks who works with it.'),
    form,
  );
  form.querySelector('input')!.focus();
}

async function openKey(): Promise<void> {
  const dialog = keyDialog(organisation, () => void begin());
  document.body.append(dialog);
  dialog.showModal();
}

/** `moved`: moves the focus to the start of the new view. */
async function show(moved: boolean): Promise<void> {
  if (main.hasAttribute('data-asks-key') || organisation === null) return;
  const { path, query } = readAddress(location.hash);
  const section = sections.find(({ name }) => name === (path[0] ?? 'jobs'));
  for (const [name, link] of links) {
    if (name === section?.name) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  showCurrent(bar);
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const viewElement = h('div', { class: 'view' });
  fill(main, viewElement);
  if (moved) {
    main.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
  const title = (text: string): void => {
    document.title = `${text} · Conversion Job Service`;
    if (moved) announce(text);
  };
  try {
    if (section === undefined) {
      title('Nothing here');
      fill(
        viewElement,
        h('h1', {}, 'Nothing here'),
        h(
          'p',
          {},
          'There is no such part of the page. Go on with ',
          h('a', { href: linkTo(['jobs']) }, 'the jobs'),
          '.',
        ),
      );
    } else await section.view(path, query)({ main: viewElement, signal, path, query, title });
  } catch (error) {
    if (!signal.aborted) viewElement.append(failureBox(error, () => void show(false)));
  }
}
