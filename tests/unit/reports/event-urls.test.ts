import { expect, test } from 'vitest'
import { eventWithoutUrlSecrets } from '../../../src/server/reports/intake/event-urls.ts'

/** An event of the recorder. */
const eventOf = (values: readonly string[], stack: string) => ({
  platform: 'javascript',
  exception: { values: values.map((value) => ({ type: 'Error', value })) },
  extra: { stack, other: stack },
})

test('of the texts of an event, the first 65,536 characters are searched and stay', () => {
  const secret = 'at https://mills.example/a?token=1 '
  const long = secret + 'a '.repeat(1_000_000)
  const event = eventWithoutUrlSecrets(eventOf(['short /b?q=1', long, long], `${long}😀`)) as ReturnType<typeof eventOf>
  const [short = '', cut = '', none = ''] = event.exception.values.map(({ value }) => value)
  expect([short, cut.slice(0, 40), none, event.extra.stack]).toEqual([
    'short /b',
    'at https://mills.example/a a a a a a a a'.slice(0, 40),
    '…',
    '…',
  ])
  expect([cut.length, cut.at(-1)]).toEqual([65_536 - 'short /b?q=1'.length - '?token=1'.length + 1, '…'])
  expect(event.extra.other).toBe(`${long}😀`)
})

test('half a character at the cut makes no invalid text', () => {
  const { exception } = eventWithoutUrlSecrets(eventOf([`${'a'.repeat(65_535)}😀`], '')) as ReturnType<typeof eventOf>
  expect(exception.values[0]?.value.endsWith('a\ufffd…')).toBe(true)
})

test('texts that are not too long stay whole, and an event without secrets is the same object', () => {
  const event = eventOf(['a'.repeat(30_000), 'b'.repeat(30_000)], 'at /c:1:2')
  expect(eventWithoutUrlSecrets(event)).toBe(event)
})
