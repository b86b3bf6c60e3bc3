/** Flat list of header names and values, as `ServerResponse.writeHead` takes it. */
export type HeaderList = string[]
