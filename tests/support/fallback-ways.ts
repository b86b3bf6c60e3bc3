/**
 * Every way into a fallback of tests/fixtures/fallbacks-app, and every way on from there, with the stylesheets that must
 * apply then. Each stylesheet of that application sets a property of its own on the document's element.
 */

/** The stylesheets that apply, by name and in alphabetical order. */
type Applied = string

/** What is shown: the heading, the document's title, the stylesheets. */
export interface Shown {
  readonly heading: string
  readonly title: string
  readonly applied: Applied
}

/** One way into a fallback. */
interface FallbackWay extends Shown {
  readonly name: string
  /** The document that is loaded first. */
  readonly at: string
  /** What is pressed there, by its text: a link or a button. */
  readonly press?: string
  /** Status of the document, where that is the fallback. */
  readonly status?: number
}

/** All stylesheets of the application. */
export const SHEETS = ['area', 'error', 'forbidden', 'not-found', 'other', 'page', 'site', 'unauthorized'] as const

export const HOME: Shown = { heading: 'Home', title: 'Home · Fallbacks', applied: 'other site' }
export const AREA: Shown = { heading: 'Area', title: 'Area · Fallbacks', applied: 'area page site' }

const ON_SERVER: Shown = { heading: 'Failed on the server', title: 'Failed · Fallbacks', applied: 'area error site' }
const IN_BROWSER: Shown = { ...ON_SERVER, heading: 'Failed on the client' }
const MISSING: Shown = { heading: 'Not found', title: 'Not found · Fallbacks', applied: 'area not-found site' }
const FORBIDDEN: Shown = { heading: 'Forbidden', title: 'Forbidden · Fallbacks', applied: 'area forbidden site' }
const UNAUTHORIZED: Shown = {
  heading: 'Unauthorized',
  title: 'Unauthorized · Fallbacks',
  applied: 'area site unauthorized',
}

/** @see FallbackWay */
export const WAYS: readonly FallbackWay[] = [
  { name: 'a document whose loader fails', at: '/area/loader', status: 500, ...ON_SERVER },
  { name: 'a document whose page throws', at: '/area/throws', status: 500, ...ON_SERVER },
  { name: 'a document that is not found', at: '/area/missing', status: 404, ...MISSING },
  { name: 'a document that is forbidden', at: '/area/forbidden', status: 403, ...FORBIDDEN },
  { name: 'a document that asks to sign in', at: '/area/unauthorized', status: 401, ...UNAUTHORIZED },
  { name: 'a hole of a document that fails', at: '/area/late-crash', ...ON_SERVER },
  { name: 'a hole of a document that is not found', at: '/area/late-missing', ...MISSING },
  { name: 'a click on a page whose loader fails', at: '/', press: '/area/loader', ...ON_SERVER },
  { name: 'a click on a page that is not found', at: '/area', press: '/area/missing', ...MISSING },
  { name: 'a click on a page that is forbidden', at: '/area', press: '/area/forbidden', ...FORBIDDEN },
  { name: 'a click on a page that asks to sign in', at: '/', press: '/area/unauthorized', ...UNAUTHORIZED },
  { name: 'a click on a page that throws', at: '/', press: '/area/throws', ...IN_BROWSER },
  { name: 'a click on a page with a hole that fails', at: '/', press: '/area/late-crash', ...ON_SERVER },
  { name: 'a click on a page with a hole that is not found', at: '/area', press: '/area/late-missing', ...MISSING },
  { name: 'a component that throws', at: '/area', press: 'Throw', ...IN_BROWSER },
  { name: 'an effect that throws', at: '/area', press: 'Break in an effect', ...IN_BROWSER },
  { name: 'a component that does not find', at: '/area', press: 'Do not find', ...MISSING },
  { name: 'an action of a script that fails', at: '/area', press: 'Fail by script', ...ON_SERVER },
  { name: 'an action that does not find', at: '/area', press: 'Refuse: notFound', ...MISSING },
  { name: 'an action that forbids', at: '/area', press: 'Refuse: forbidden', ...FORBIDDEN },
  { name: 'an action that asks to sign in', at: '/area', press: 'Refuse: unauthorized', ...UNAUTHORIZED },
  { name: 'an action that fails', at: '/area', press: 'Fail', ...ON_SERVER },
]

/** What is done on a page; ends in what is shown then. */
type Step =
  { readonly press: string } | { readonly travel: number } | { readonly goto: string } | { readonly reload: true }

/** One journey: steps, each with what is shown behind it. */
interface Journey {
  readonly name: string
  readonly at: string
  readonly steps: readonly (readonly [Step, Shown])[]
}

const back: Step = { travel: -1 }
const forward: Step = { travel: 1 }

/** @see Journey */
export const JOURNEYS: readonly Journey[] = [
  {
    name: 'a fragment, and back',
    at: '/area',
    steps: [
      [{ press: 'Below' }, AREA],
      [back, AREA],
      [forward, AREA],
    ],
  },
  {
    name: 'the skip link, and back',
    at: '/area',
    steps: [
      [{ press: 'Skip' }, AREA],
      [back, AREA],
    ],
  },
  {
    name: 'the skip link of a fallback, and back',
    at: '/area/missing',
    steps: [
      [{ press: 'Skip' }, MISSING],
      [back, MISSING],
    ],
  },
  {
    name: 'the skip link of a fallback in a hole, and back',
    at: '/area/late-missing',
    steps: [
      [{ press: 'Skip' }, MISSING],
      [back, MISSING],
    ],
  },
  {
    name: 'a fragment, then a component that throws, and back',
    at: '/area',
    steps: [
      [{ press: 'Skip' }, AREA],
      [{ press: 'Throw' }, IN_BROWSER],
      [{ press: 'Skip' }, IN_BROWSER],
    ],
  },
  {
    name: 'another page, and back',
    at: '/area',
    steps: [
      [{ press: '/' }, HOME],
      [back, AREA],
      [forward, HOME],
    ],
  },
  {
    name: 'the same page again',
    at: '/area',
    steps: [
      [{ press: '/area' }, AREA],
      [{ press: '/area' }, AREA],
    ],
  },
  {
    name: 'a page that throws, and back',
    at: '/area',
    steps: [
      [{ press: '/area/throws' }, IN_BROWSER],
      [back, AREA],
      [forward, IN_BROWSER],
    ],
  },
  {
    name: 'home from a fallback, and back',
    at: '/area/late-crash',
    steps: [
      [{ press: 'Home' }, HOME],
      [back, ON_SERVER],
      [forward, HOME],
    ],
  },
  {
    name: 'trying again',
    at: '/area',
    steps: [
      [{ press: 'Throw' }, IN_BROWSER],
      [{ press: 'Try again' }, AREA],
    ],
  },
  { name: 'a reload of a late fallback', at: '/area/late-missing', steps: [[{ reload: true }, MISSING]] },
  {
    name: 'another document, and back',
    at: '/area',
    steps: [
      [{ press: 'Skip' }, AREA],
      [{ goto: '/area/missing' }, MISSING],
      [back, AREA],
    ],
  },
]

/** Reads what is shown; runs in the page. */
export function readShown(sheets: readonly string[]): Shown {
  const style = getComputedStyle(document.documentElement)
  return {
    heading: document.querySelector('h1')?.textContent ?? '',
    title: document.title,
    applied: sheets.filter((name) => style.getPropertyValue(`--${name}`).trim() === 'on').join(' '),
  }
}
