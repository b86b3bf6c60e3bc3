/** Loaded into a measured server: on SIGUSR2 it prints the processor time of its process as one line of JSON. */
process.on('SIGUSR2', () => {
  const { user, system } = process.cpuUsage()
  process.stdout.write(`${JSON.stringify({ probe: { cpuMs: (user + system) / 1_000 } })}\n`)
})
