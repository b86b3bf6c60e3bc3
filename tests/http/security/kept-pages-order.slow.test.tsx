import { test } from 'vitest'
import { expectKeptPrivacy } from '../../support/kept-order.tsx'

test('no mark of a visitor reaches another one, and after a drop nothing dropped is sent, in any order', async () => {
  await expectKeptPrivacy(200) // `tests/soak` has 10,000
}, 120_000)
