import { describe, expect, test } from 'vitest'
import { checkTunnelPath } from '../../../src/server/config/check-tunnel-path.ts'
import { createRouteTable } from '../../../src/shared/route-table.ts'

const page = (): never => {
  throw new Error('Nothing is rendered here')
}
const table = createRouteTable({
  '/': { page },
  '/(site)/help/reports': { page },
  '/docs/[[...slug]]': { page },
  '/mills/[id]': { page },
  '/files/[...path]': { page },
} as never)

describe('the relay', () => {
  test.for([
    ['/help/reports', '/(site)/help/reports'],
    ['/docs', '/docs/[[...slug]]'],
  ] as const)('does not begin at %s, where it would hide a page', ([path, key]) => {
    expect(() => checkTunnelPath(path, table)).toThrow(
      `REPORT_TUNNEL_PATH: "${path}" is refused: expected a path that no route of the application has; it is that of ${key}`,
    )
  })

  test.for(['/reports', '/help', '/_m/reports/01234567', '/docs/x', '/mills/reports', '/files/a/b'])(
    'may be at %s',
    (path) => {
      expect(() => checkTunnelPath(path, table)).not.toThrow()
    },
  )
})
