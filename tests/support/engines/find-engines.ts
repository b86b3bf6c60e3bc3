import { globSync } from 'node:fs'
import { findExecutable } from '../programs.ts'
import type { EngineTab } from './engine-page.ts'
import { openFirefox } from './firefox.ts'
import { openWebKit } from './webkit.ts'

/** A browser engine beside Chromium's. */
export interface Engine {
  readonly name: 'Firefox' | 'WebKit'
  /** Starts it; absent where it is not installed. */
  readonly open: (() => Promise<EngineTab>) | undefined
}

/** One line for whoever has not all of them. */
const HOW_TO_GET_ENGINES = 'Debian: `apt-get install firefox-esr webkit2gtk-driver xvfb`.'

/** Firefox, and Safari's engine as it is built for Linux, with what of them is installed. */
export function findEngines(): readonly Engine[] {
  const firefox = findExecutable('firefox-esr') ?? findExecutable('firefox')
  const [driver, display] = [findExecutable('WebKitWebDriver'), findExecutable('Xvfb')]
  const [browser] = globSync('/usr/lib/*/webkit2gtk-4.?/MiniBrowser').toSorted()
  return [
    { name: 'Firefox', open: firefox && (() => openFirefox(firefox)) },
    { name: 'WebKit', open: driver && display && browser && (() => openWebKit({ driver, display, browser })) },
  ].map(({ name, open }) => ({ name: name as Engine['name'], open: open || undefined }))
}

/**
 * Starts an engine for the tests that follow; they own it. Where it does not start the reason is printed: that says nothing
 * of the application.
 * @throws {Error} instead, where `REQUIRE_ENGINES` is 1.
 */
export async function startEngine({ name, open }: Engine): Promise<EngineTab | undefined> {
  try {
    if (open === undefined) throw new Error(`It is not installed. ${HOW_TO_GET_ENGINES}`)
    return await open()
  } catch (reason) {
    if (process.env['REQUIRE_ENGINES'] === '1') throw reason
    // oxlint-disable-next-line no-console -- nobody else says why
    console.log(`Skipped for ${name}: ${reason instanceof Error ? reason.message : String(reason)}`)
    return undefined
  }
}
