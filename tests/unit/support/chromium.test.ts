import { expect, test } from 'vitest'
import { findChromium } from '../../support/chromium.ts'

const only =
  (...paths: readonly string[]) =>
  (path: string): boolean =>
    paths.includes(path)

test('the named Chromium wins over the one of the system', () => {
  const exists = only('/opt/chromium', '/usr/bin/chromium')
  expect(findChromium({ CHROMIUM_PATH: '/opt/chromium' }, exists)).toBe('/opt/chromium')
})

test('a CHROMIUM_PATH with a typo is an error and no fallback', () => {
  expect(() => findChromium({ CHROMIUM_PATH: '/opt/chromum' }, only('/usr/bin/chromium'))).toThrow(/\/opt\/chromum/)
})

test('an empty CHROMIUM_PATH counts as none', () => {
  expect(findChromium({ CHROMIUM_PATH: '' }, only('/usr/bin/chromium-browser'))).toBe('/usr/bin/chromium-browser')
})

test('the one without windows is taken where both are there', () => {
  const exists = only('/usr/bin/chromium', '/usr/bin/chromium-headless-shell')
  expect(findChromium({}, exists)).toBe('/usr/bin/chromium-headless-shell')
})

test('without any, nothing is found', () => {
  expect(findChromium({}, only())).toBeUndefined()
})
