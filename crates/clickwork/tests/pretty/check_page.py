"""Checks pages of HTML: every tag is closed, no id occurs twice, every link within the page leads somewhere, nothing is loaded
from elsewhere, no script runs. Prints what is wrong."""
import html.parser, sys

EMPTY = {'meta', 'link', 'br', 'img', 'hr', 'input'}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.wrong = [], [], [], []

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag not in EMPTY:
            self.open.append(tag)
        if 'id' in attributes:
            self.ids.append(attributes['id'])
        href = attributes.get('href', '')
        if href.startswith('#'):
            self.links.append(href[1:])
        if tag == 'a' and self.open.count('a') > 1:
            self.wrong.append(f'link in a link, line {self.getpos()[0]}')
        if tag in ('script', 'link', 'img', 'iframe') or 'src' in attributes or any(a.startswith('on') for a in attributes):
            self.wrong.append(f'{tag} loads or runs something')

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f'</{tag}> closes nothing, line {self.getpos()[0]}')


for file in sys.argv[1:]:
    page = Page()
    page.feed(open(file, encoding='utf-8').read())
    page.close()
    ids = set(page.ids)
    page.wrong += [f'<{tag}> is not closed' for tag in page.open]
    page.wrong += [f'id {i} occurs twice' for i in ids if page.ids.count(i) > 1]
    page.wrong += [f'#{link} leads nowhere' for link in page.links if link not in ids]
    print(f'{file}: {len(page.links)} links' if not page.wrong else f'{file}: ' + '; '.join(page.wrong[:20]))
