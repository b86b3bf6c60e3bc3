import { describe, expect, it } from 'vitest'
import {
  countCharacters,
  messageFault,
  nameFault,
  tidyMessage,
  tidyName,
} from '../../../src/app/lab/guestbook/entry.ts'
import { expectLinear } from '../../support/growth.ts'

const FAMILY = '👨‍👩‍👧‍👦'

describe('a name in the guestbook', () => {
  it.each([
    ['  Ada  ', 'Ada'],
    ['Ada\r\nLovelace', 'Ada Lovelace'],
    ['A\u0000d\u0007a', 'Ada'],
    ['e\u0301', 'é'],
    ['a\ud800b', 'a\ufffdb'],
    ['<b>Ada</b>', '<b>Ada</b>'],
  ])('%j is kept as %j', (typed, kept) => {
    expect(tidyName(typed)).toBe(kept)
  })

  it.each(['', '   ', '\u200b\u200d', '\u0007'])('is asked for where %j was typed', (typed) => {
    expect(nameFault(tidyName(typed))).toBe('Please give a name.')
  })

  it.each([
    ['letters', 'x'.repeat(40)],
    ['families', FAMILY.repeat(40)],
    ['flags', '🇨🇭'.repeat(40)],
    ['letters with accents apart', 'q\u0302'.repeat(40)],
  ])('may have 40 %s, as a person counts', (_what, name) => {
    expect(nameFault(tidyName(name))).toBeUndefined()
  })

  it('says how long it is when it is too long', () => {
    expect(nameFault('x'.repeat(41))).toBe('A name has at most 40 characters; this one has 41.')
    expect(nameFault(FAMILY.repeat(41))).toBe('A name has at most 40 characters; this one has 41.')
  })

  it('that piles accents up without end is no short name', () => {
    expect(countCharacters(`a${'\u0302'.repeat(5_000)}`)).toBe(1)
    expect(nameFault(`a${'\u0302'.repeat(5_000)}`)).toBe('A name has at most 40 characters; this is far more.')
  })
})

describe('accents without end', () => {
  it('cost time by their number alone', () =>
    expectLinear((length) => () => tidyMessage(tidyName('\u0316\u0302'.repeat(length / 2)))))

  it('are refused where they are far too many', () => {
    expect(nameFault(tidyName(`a${'\u0302'.repeat(1_000)}`))).toMatch('far more')
    expect(messageFault(tidyMessage(`a${'\u0302'.repeat(80_000)}`))).toMatch('far more')
  })
})

describe('a message in the guestbook', () => {
  it('keeps its lines, and no space around them', () => {
    expect(tidyMessage('\r\n one\r\n\r\ntwo\u0000 \r\n')).toBe('one\n\ntwo')
  })

  it('may have 280 characters; a line end of a form is one', () => {
    expect(messageFault(tidyMessage('a\r\n'.repeat(140)))).toBeUndefined()
    expect(messageFault(tidyMessage(`${'a\r\n'.repeat(140)}ab`))).toBe(
      'A message has at most 280 characters; this one has 282.',
    )
    expect(messageFault(tidyMessage(' \n '))).toBe('Please write a message.')
  })
})
