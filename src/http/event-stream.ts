import { limits } from '../base/limits.ts'

type StreamedEvent = { name: string; data: string }

/** One open answer of server-sent events. */
type EventStream = {
  response: Response
  /** Aborted when the reader went away. */
  gone: AbortSignal
  /** False if the reader does not keep up, which ends the stream. An empty list sends a heartbeat. */
  send(events: readonly StreamedEvent[]): boolean
  end(): void
}

/** Open a stream. Its unread bytes are bounded. */
export function openEventStream(): EventStream {
  const left = new AbortController()
  const encoder = new TextEncoder()
  const queue = new ByteLengthQueuingStrategy({ highWaterMark: limits.liveUnreadBytesMax })
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null
  const body = new ReadableStream<Uint8Array>(
    {
      start(opened) {
        controller = opened
        // Shows the client that the stream is open, and sets its reconnection time.
        opened.enqueue(encoder.encode('retry: 2000\n\n'))
      },
      cancel() {
        controller = null
        left.abort()
      },
    },
    queue,
  )
  const end = () => {
    controller?.close()
    controller = null
  }
  return {
    response: new Response(body, {
      headers: {
        'Content-Type': 'text/event-stream; charset=utf-8',
        'Cache-Control': 'no-store',
        'Access-Control-Allow-Origin': '*',
        // nginx would hold events back until its buffer is full.
        'X-Accel-Buffering': 'no',
      },
    }),
    gone: left.signal,
    send(events) {
      if (!controller) return false
      if ((controller.desiredSize ?? 0) <= 0) {
        end()
        return false
      }
      const text = events.map(({ name, data }) => `event: ${name}\ndata: ${data}\n\n`).join('')
      controller.enqueue(encoder.encode(text === '' ? ':\n\n' : text))
      return true
    },
    end,
  }
}
