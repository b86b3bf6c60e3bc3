/**
 * Loaded into a server under test by `--import`: on SIGUSR2 it collects garbage, if it may, and prints what the process
 * holds as one line of JSON. Nothing of it is part of the server.
 */
process.on('SIGUSR2', () => {
  const collect = (globalThis as { gc?: () => void }).gc
  collect?.()
  collect?.()
  const { heapUsed, external, arrayBuffers, rss } = process.memoryUsage()
  const resources: Record<string, number> = {}
  for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1
  process.stdout.write(`${JSON.stringify({ probe: { heapUsed, external, arrayBuffers, rss, resources } })}\n`)
})
