import { readGauge } from './gauge.server.ts'

export function GET() {
  return Response.json(readGauge(), { headers: { 'Cache-Control': 'no-store' } })
}
