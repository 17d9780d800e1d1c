"""Reads what `clickwork xml --flatten`, `clickwork xml` and `clickwork json` wrote, and prints the graph of each in one form.

Arguments: the form (xml, nested or json) and the file. Output: "name :: class(config)" and "from [port] -> [port] to" lines,
sorted. Of nested XML, compound elements are expanded here, so that what is printed is what `--flatten` has.
"""
import json, re, sys, xml.etree.ElementTree as tree

NS = '{http://www.lcdf.org/click/xml/}'


def from_json(file):
    graph = json.load(open(file))
    assert graph['format'] == 'clickwork-configuration' and graph['version'] == 1
    names = {e['name'] for e in graph['elements']}
    assert {c['name'] for c in graph['classes']} == {e['class'] for e in graph['elements']}
    inside = {c['name']: c['compound'] for c in graph['compounds']}
    assert all(outer is None or outer in inside for outer in inside.values())
    assert all(e['compound'] is None or e['compound'] in inside for e in graph['elements'])
    kinds = {e['name']: (e['inputs'], e['outputs']) for e in graph['elements']}
    for c in graph['connections']:
        assert c['from'] in names and c['to'] in names
        assert kinds[c['from']][1][c['output']] == kinds[c['to']][0][c['input']] == c['processing']
    return ([(e['name'], e['class'], e['config']) for e in graph['elements']],
            [(c['from'], c['output'], c['input'], c['to']) for c in graph['connections']])


def attributes(node, tag):
    return [child.attrib for child in node if child.tag == NS + tag]


def wires(node):
    return [(c['from'], int(c['fromport']), int(c['toport']), c['to']) for c in attributes(node, 'connection')]


def from_xml(file):
    root = tree.parse(file).getroot()
    assert root.tag == NS + 'configuration'
    return ([(e['name'], e['classname'], e.get('config', '')) for e in attributes(root, 'element')], wires(root))


def alternative(classes, classid, count):
    """The compound among the alternatives of a class that takes as many arguments."""
    while True:
        compound = classes[classid].find(NS + 'compound')
        if int(compound.get('nformals')) == count or 'overloadclassid' not in compound.attrib:
            return compound
        classid = compound.get('overloadclassid')


def expand(node, classes, prefix, values, elements):
    """Adds the elements of a part, and returns its wires with those of the compound elements in it put in their place."""
    result = [(prefix + a, p, q, prefix + b) for a, p, q, b in wires(node)]
    for e in attributes(node, 'element'):
        name = prefix + e['name']
        config = re.sub(r'\$(\w+)', lambda m: values.get(m[1], m[0]), e.get('config', ''))
        if 'classname' in e:
            elements.append((name, e['classname'], config))
            continue
        arguments = [a.strip() for a in config.split(',') if a.strip()]
        compound = alternative(classes, e['classid'], len(arguments))
        formals = attributes(compound, 'formal')
        inner = {f['name']: a[len(f.get('key', '')):].strip() for f, a in zip(formals, arguments)}
        result += expand(compound, classes, name + '/', inner, elements)
        result = through(result, name, name + '/input')
        result = through(result, name + '/output', name)
    return result


def through(edges, end, start):
    """Joins what leads to `end` with what leaves `start`."""
    into = [w for w in edges if w[3] == end]
    out = [w for w in edges if w[0] == start]
    joined = [(a[0], a[1], b[2], b[3]) for a in into for b in out if a[2] == b[1]]
    return [w for w in edges if w not in into and w not in out] + joined


def from_nested(file):
    root = tree.parse(file).getroot()
    classes = {c.get('classid'): c for c in root if c.tag == NS + 'elementclass'}
    elements = []
    edges = expand(root, classes, '', {}, elements)
    return elements, edges


def main():
    elements, connections = {'json': from_json, 'xml': from_xml, 'nested': from_nested}[sys.argv[1]](sys.argv[2])
    for name, kind, config in sorted(elements):
        print(f'{name} :: {kind}({config!r})')
    for a, p, q, b in sorted(set(connections)):
        print(f'{a} [{p}] -> [{q}] {b}')


main()
