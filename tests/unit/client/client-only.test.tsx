import { renderToString } from 'react-dom/server'
import { expect, test, vi } from 'vitest'
import { ClientOnly } from '../../../src/client/react/client-only.tsx'

test('the server renders the fallback, and never calls the children', () => {
  const children = vi.fn<() => string>(() => 'children')
  expect(renderToString(<ClientOnly fallback={<p>Loading</p>}>{children}</ClientOnly>)).toBe('<p>Loading</p>')
  expect(renderToString(<ClientOnly>{children}</ClientOnly>)).toBe('')
  expect(children).not.toHaveBeenCalled()
})
