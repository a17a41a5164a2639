/**
 * Compiles modules of kernels from their bytes, which are stored as text. A thread that compiles a module again gets the process's
 * compiled code.
 */

/** `base64`: bytes of WebAssembly. Throws CompileError, or the runtime's error, if they are refused. */
export function compileModule(base64: string): WebAssembly.Module {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  // a callback for each byte would take 2.5 ms for a kernel
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return new WebAssembly.Module(bytes);
}
