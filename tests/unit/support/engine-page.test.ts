import { expect, test } from 'vitest'
import { enginePage } from '../../support/engines/engine-page.ts'

const tabOf = (answers: readonly (string | undefined)[]) => {
  const left = [...answers]
  return enginePage({
    goto: async () => undefined,
    evaluate: () => {
      const answer = left.shift()
      return answer === undefined ? new Promise<string>(() => undefined) : Promise.resolve(answer)
    },
    [Symbol.asyncDispose]: async () => undefined,
  })
}

test('what is read from a document that has gone, of which nothing comes, is read again', async () => {
  await expect(tabOf(['false', undefined, 'true']).until(() => true)).resolves.toBeUndefined()
})

test('one reading ends', async () => {
  await expect(tabOf([undefined]).read(() => 1)).rejects.toThrow('No answer')
  expect(await tabOf(['1']).read(() => 2)).toBe(1)
})
