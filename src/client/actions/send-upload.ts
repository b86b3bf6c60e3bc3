/**
 * Like `fetch`, but reports upload progress, which `fetch` cannot. The answer arrives as a whole.
 * @throws {TypeError} as `fetch` does, without an answer.
 */
export function sendUpload(
  url: string,
  { headers, body, signal }: Pick<RequestInit, 'headers' | 'body' | 'signal'>,
  onProgress: (loaded: number, total: number) => void,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const fail = (): void => reject(new TypeError('The upload was cut off'))
    request.open('POST', url)
    new Headers(headers).forEach((value, name) => request.setRequestHeader(name, value))
    request.responseType = 'blob'
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(loaded, total))
    request.addEventListener('load', () => {
      const { status, response } = request
      resolve(new Response(response as Blob, { status, headers: answerHeaders(request) }))
    })
    request.addEventListener('error', fail)
    request.addEventListener('abort', fail)
    signal?.addEventListener('abort', () => request.abort(), { once: true })
    request.send(body as FormData)
  })
}

function answerHeaders(request: XMLHttpRequest): Headers {
  const lines = request.getAllResponseHeaders().matchAll(/^([^:\s]+):(.*)/gm)
  return new Headers([...lines].map(([, name = '', value = '']) => [name, value]))
}
