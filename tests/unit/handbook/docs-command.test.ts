import { beforeEach, expect, test, vi } from 'vitest'
import { docs } from '../../../scripts/command/docs.ts'

const printed = { text: '' }
beforeEach(() => {
  printed.text = ''
  const print = vi.spyOn(console, 'log').mockImplementation((text: string) => void (printed.text += `${text}\n`))
  return () => print.mockRestore()
})

test('millrace docs prints the best section with its place, and where others are', async () => {
  await docs(['read', 'a', 'cookie'])
  expect(printed.text).toMatch(/^docs\/sessions\.md:\d+\n\n## Cookies of your own\n/)
  expect(printed.text).toContain('context.cookie(')
  expect(printed.text).toMatch(/\nSee also:\n {2}docs\/[\w-]+\.md:\d+ {2}\S/)
})

test('millrace docs lists the chapters where it is asked for nothing', async () => {
  await docs([])
  expect(printed.text).toMatch(/^docs\/index\.md {2}What Millrace is\ndocs\/getting-started\.md /)
})

test('millrace docs fails in one line where nothing fits', async () => {
  await expect(docs(['zzzqq'])).rejects.toThrow(
    'No section of the handbook matches "zzzqq". Try fewer or different words.',
  )
  expect(printed.text).toBe('')
})
