/** Documents of any size, written as a stream, of which every count is known. */
import { open } from 'node:fs/promises';

export interface LargeDocument {
  readonly path: string;
  readonly bytes: number;
  /** elements by name */
  readonly shipments: number;
  readonly packages: number;
  readonly goods: number;
  /** of the packages' weights, in millionths */
  readonly weightMillionths: bigint;
}

const pieceBytes = 1024 * 1024;

/** A manifest of the freight schema, of at least so many bytes. */
export async function writeLargeDocument(path: string, minBytes: number): Promise<LargeDocument> {
  const file = await open(path, 'w');
  let bytes = 0;
  let piece = '';
  let shipments = 0;
  let packages = 0;
  let goods = 0;
  let weightMillionths = 0n;
  const write = async (text: string): Promise<void> => {
    piece += text;
    if (piece.length < pieceBytes) return;
    const chunk = Buffer.from(piece);
    await file.writeFile(chunk);
    bytes += chunk.length;
    piece = '';
  };
  const oneOfPackages = (id: string, inner: string): string => {
    const weight = (packages * 7919) % 5_000_000;
    weightMillionths += BigInt(weight);
    packages += 1;
    goods += 2;
    const decimal = `${Math.floor(weight / 1_000_000)}.${String(weight % 1_000_000).padStart(6, '0')}`;
    return (
      `    <package id="${id}"${packages % 3 === 0 ? ' fragile="true"' : ''}>\n      <weight unit="kg">${decimal}</weight>\n` +
      `      <goods>Ware №${packages} &amp; more</goods>\n      <goods>second of ${packages}</goods>\n${inner}    </package>\n`
    );
  };
  try {
    await write(
      '<?xml version="1.0" encoding="UTF-8"?>\n<manifest xmlns="urn:example:freight" xmlns:p="urn:example:party" number="1">\n' +
        '  <created>2026-03-01T00:00:00Z</created>\n  <carrier><p:name>carrier</p:name></carrier>\n',
    );
    while (bytes + piece.length < minBytes) {
      shipments += 1;
      const day = String(1 + (shipments % 28)).padStart(2, '0');
      await write(
        `  <shipment ref="S-${shipments}" priority="${shipments % 10}">\n` +
          `    <shipper vat="V${shipments}"><p:name>shipper ${shipments}</p:name></shipper>\n` +
          `    <road><truck>T-${shipments}</truck></road>\n    <pickup>2026-03-${day}</pickup>\n` +
          oneOfPackages(`a${shipments}`, oneOfPackages(`b${shipments}`, '')) +
          oneOfPackages(`c${shipments}`, '') +
          '  </shipment>\n',
      );
    }
    const end = Buffer.from(`${piece}</manifest>\n`);
    await file.writeFile(end);
    bytes += end.length;
  } finally {
    await file.close();
  }
  return { path, bytes, shipments, packages, goods, weightMillionths };
}
