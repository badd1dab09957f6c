/** Send a command to the control socket of a service. `step`: its name in the recording. */
export async function askControl<T>(
  socket: string,
  method: string,
  command: string,
  { step = command, body }: { step?: string; body?: unknown } = {},
): Promise<T> {
  const answer = await fetch(`http://control/${command}`, {
    method,
    unix: socket,
    headers: { 'X-Step': step },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const { result, refused } = (await answer.json()) as { result: T; refused?: string }
  if (refused !== undefined) throw new Error(refused)
  return result
}
