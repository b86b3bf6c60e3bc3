import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'

/**
 * Where distributions put it. The one without windows comes first: the same engine, and pages cost half of the processor
 * time. The last name is a link of Google's own package.
 */
const SYSTEM_PATHS = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
] as const

/**
 * What a test's Chromium is started with: no sandbox, since containers run it as root; nothing that talks to the
 * network by itself; no QUIC, so that every request is one the server's log knows.
 */
export const CHROMIUM_ARGS: readonly string[] = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** One line for whoever has none. */
export const HOW_TO_GET_CHROMIUM =
  'Install one (Debian: `apt-get install chromium-headless-shell`, or `chromium`; elsewhere: `npx playwright-core install chromium`) ' +
  'or name one in CHROMIUM_PATH.'

/**
 * Finds a Chromium: `CHROMIUM_PATH`, then the system's, then the one that playwright-core installed.
 * @param env where `CHROMIUM_PATH` is looked up.
 * @param exists whether a path is there; the file system unless told.
 * @returns the executable's path, or `undefined`.
 * @throws {Error} when `CHROMIUM_PATH` names nothing: a typo must not fall back to another browser.
 */
export function findChromium(
  env: Readonly<Record<string, string | undefined>> = process.env,
  exists: (path: string) => boolean = existsSync,
): string | undefined {
  const named = env['CHROMIUM_PATH']
  if (named !== undefined && named !== '') {
    if (exists(named)) return named
    throw new Error(`CHROMIUM_PATH names ${named}, which does not exist. ${HOW_TO_GET_CHROMIUM}`)
  }
  return [...SYSTEM_PATHS, chromium.executablePath()].find((path) => path !== '' && exists(path))
}
