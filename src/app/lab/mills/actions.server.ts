import { z } from 'zod'
import { action, notFound } from 'millrace/server'
import { findMill } from './mills.server.ts'

const litres = z.coerce.number('Enter a number.').min(1, 'Enter at least 1.').max(5_000, 'Enter at most 5,000.')

export const estimatePower = action({
  input: z.object({ mill: z.string().max(20), litres }),
  async handler({ input }) {
    const mill = await findMill(input.mill)
    if (mill === undefined) notFound()
    const watts = input.litres * 9.81 * mill.fall * 0.7 // of a good wheel
    return { kind: 'done', kilowatts: (watts / 1_000).toFixed(1) } as const
  },
})
