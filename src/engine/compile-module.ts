/** Modules of kernels from their bytes, which are kept as text. A thread that compiles one again gets what the process has compiled. */

/** `base64`: bytes of WebAssembly. CompileError, or whatever the runtime throws, where these are refused. */
export function compileModule(base64: string): WebAssembly.Module {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  // a call for each byte would take 2.5 ms for a kernel
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return new WebAssembly.Module(bytes);
}
