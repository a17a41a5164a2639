/** The syntax of schema documents, by the schema for schemas. */
import { clarkName } from '../../model/source-model.ts';
import type { XmlElement } from '../../xml/tree.ts';
import { hasForm, readSchemaGrammar, type Construct, type ContentStep, collapse } from './grammar.ts';
import type { XsdReport } from '../report.ts';
import { attributeOf, isXsd, type SchemaFile } from './file.ts';
import { xsdNamespace } from '../../model/name-labels.ts';

/** Elements may declare these, or have others by reference (XSD 1.1). */
const identityConstraints: ReadonlySet<string> = new Set(['unique', 'key', 'keyref']);

/** The deepest nesting of an XSD document. It is less than for other documents, because all code that reads them is recursive. */
const maxNesting = 400;

/** Checks documents against the schema for schemas: elements and attributes in their places, values in their forms. */
export function createSyntaxChecker(report: XsdReport): (file: SchemaFile) => void {
  const grammar = readSchemaGrammar();
  return (file) => {
    const document = { file };
    const ids = new Set<string>();

    const checkAttributes = (node: XmlElement, construct: Construct) => {
      const at = { node, document };
      for (const { name, value } of node.attributes) {
        if (name.namespaceUri === xsdNamespace) {
          report.error(
            'xsd_unexpected_attribute',
            `An attribute in the XSD namespace: ${name.localName}`,
            at,
          );
        }
        if (name.namespaceUri !== '') continue;
        const form = construct.attributes.get(name.localName);
        if (form === undefined) {
          report.error(
            'xsd_unexpected_attribute',
            `${node.name.localName} has no attribute ${name.localName} here`,
            at,
          );
        } else if (!hasForm(form, value)) {
          report.error('xsd_bad_attribute_value', `"${value}" is not a value of ${name.localName}`, at);
        }
        if (name.localName !== 'id') continue;
        const id = collapse(value);
        if (ids.has(id)) report.error('xsd_duplicate_id', `The id ${id} is given twice in this document`, at);
        ids.add(id);
      }
      for (const name of construct.required) {
        if (node.attributes.some((attribute) => attribute.name.localName === name)) continue;
        report.error('xsd_attribute_needed', `${node.name.localName} needs the attribute ${name}`, at);
      }
      if (
        construct.attributes.has('ref') &&
        construct.attributes.has('name') &&
        construct.required.length === 0
      ) {
        const given = node.attributes.filter(
          ({ name }) => name.namespaceUri === '' && (name.localName === 'name' || name.localName === 'ref'),
        );
        if (given.length !== 1) report.error('xsd_name_or_ref', 'Either name or ref is needed, not both', at);
      }
      if (
        node.name.localName === 'notation' &&
        !node.attributes.some(({ name }) => name.localName === 'public' || name.localName === 'system')
      ) {
        report.error('xsd_attribute_needed', 'notation needs the attribute public or system', at);
      }
    };

    const check = (node: XmlElement, construct: Construct, depth: number) => {
      if (depth > maxNesting) {
        const next = 'give the types inside names, and refer to them';
        report.fatal('xsd_too_deep', `Elements nest more than ${maxNesting} deep; ${next}`, {
          node,
          document,
        });
        report.throwIfUnusable();
      }
      checkAttributes(node, construct);
      if (construct.content === null) return;
      const children: XmlElement[] = [];
      for (const child of node.children) {
        if (typeof child !== 'string') children.push(child);
        else if (/[^ \t\r\n]/u.test(child)) {
          report.error(
            'xsd_unexpected_text',
            `Text is not allowed in ${node.name.localName}: "${child.trim().slice(0, 40)}"`,
            { node, document },
          );
        }
      }
      const best = matchContent(children, construct.content);
      if (best.length < children.length) {
        const child = children[best.length]!;
        const { namespaceUri, localName } = child.name;
        const name = namespaceUri === xsdNamespace ? localName : clarkName(child.name);
        report.error('xsd_unexpected_element', `${name} is not allowed here in ${node.name.localName}`, {
          node: child,
          document,
        });
      } else if (!best.complete) {
        report.error('xsd_element_needed', `${node.name.localName} needs ${best.wanted}`, {
          node,
          document,
        });
      }
      for (const [index, name] of best.constructs.entries()) {
        const child = children[index]!;
        const isReference = identityConstraints.has(name) && attributeOf(child, 'ref') !== undefined;
        const inner = grammar.get(isReference ? 'constraintRef' : name);
        if (inner !== undefined) check(child, inner, depth + 1);
      }
    };

    check(file.root, grammar.get('schema')!, 1);
  };
}

interface Match {
  /** children that fit, from the first */
  readonly length: number;
  /** constructs of those */
  readonly constructs: readonly string[];
  readonly complete: boolean;
  /** the missing part if the content is not complete */
  readonly wanted: string;
}

/** The alternative that fits best. */
function matchContent(
  children: readonly XmlElement[],
  alternatives: readonly (readonly ContentStep[])[],
): Match {
  let best = matchSteps(children, alternatives[0]!);
  for (let i = 1; i < alternatives.length; i++) {
    const match = matchSteps(children, alternatives[i]!);
    if (match.length > best.length || (match.complete && !best.complete)) best = match;
  }
  return best;
}

function matchSteps(children: readonly XmlElement[], steps: readonly ContentStep[]): Match {
  const constructs: string[] = [];
  let index = 0;
  for (const step of steps) {
    let count = 0;
    while (index < children.length && count < step.most) {
      const child = children[index]!;
      const construct = isXsd(child) ? step.children.get(child.name.localName) : undefined;
      if (construct === undefined) break;
      constructs.push(construct);
      index++;
      count++;
    }
    if (count < step.least) {
      return { length: index, constructs, complete: false, wanted: [...step.children.keys()].join(' or ') };
    }
  }
  return { length: index, constructs, complete: true, wanted: '' };
}
