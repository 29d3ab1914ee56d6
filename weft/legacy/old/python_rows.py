"""Rows for Python's own library: (kind, reason, holder, {old name: substitute})."""

from __future__ import annotations

import collections.abc

STRICTER = "stricter since Python 3"
PYTHON_3 = "gone since Python 3"
_OWN = "weft.legacy.old.python_behaviour"
_MODULES = "weft.legacy.old.modules"

_ASSERTIONS = {
    "assertEquals": "assertEqual",
    "assertNotEquals": "assertNotEqual",
    "assertAlmostEquals": "assertAlmostEqual",
    "assertNotAlmostEquals": "assertNotAlmostEqual",
    "assertRegexpMatches": "assertRegex",
    "assertNotRegexpMatches": "assertNotRegex",
    "assertRaisesRegexp": "assertRaisesRegex",
    "assert_": "assertTrue",
    "failUnless": "assertTrue",
    "failIf": "assertFalse",
    "failUnlessEqual": "assertEqual",
    "failUnlessRaises": "assertRaises",
}

_URLLIB = {
    **{name: f"urllib.parse.{name}" for name in ("quote", "quote_plus", "unquote", "urlencode")},
    "unquote_plus": "urllib.parse.unquote_plus",
    **{name: f"urllib.request.{name}" for name in ("urlopen", "urlretrieve", "urlcleanup")},
    "FancyURLopener": "urllib.request.FancyURLopener",
    "URLopener": "urllib.request.URLopener",
    "pathname2url": "urllib.request.pathname2url",
    "url2pathname": "urllib.request.url2pathname",
}

_STRING = {
    "letters": "string.ascii_letters",
    "lowercase": "string.ascii_lowercase",
    "uppercase": "string.ascii_uppercase",
    "maketrans": "builtins.str.maketrans",
    **{
        name: f"builtins.str.{name}"
        for name in (
            "lower upper split strip lstrip rstrip replace find rfind zfill count capitalize ljust"
            " rjust center index rindex swapcase expandtabs"
        ).split()
    },
    "join": f"{_OWN}.join",
    "joinfields": f"{_OWN}.join",
    "splitfields": "builtins.str.split",
    "translate": "weft.legacy.old.python2.strings.translate",
    "atoi": "builtins.int",
    "atol": "builtins.int",
    "atof": "builtins.float",
}

_TYPES = {
    "StringType": "builtins.str",
    "UnicodeType": "builtins.str",
    "StringTypes": f"{_OWN}.STRING_TYPES",
    "IntType": "builtins.int",
    "LongType": "builtins.int",
    "FloatType": "builtins.float",
    "BooleanType": "builtins.bool",
    "ListType": "builtins.list",
    "TupleType": "builtins.tuple",
    "DictType": "builtins.dict",
    "ObjectType": "builtins.object",
    "TypeType": "builtins.type",
    "ClassType": "builtins.type",
    "InstanceType": "builtins.object",
    "FileType": "io.IOBase",
    "NoneType": f"{_OWN}.NONE_TYPE",
    "ComplexType": "builtins.complex",
    "DictionaryType": "builtins.dict",
    "SliceType": "builtins.slice",
    "XRangeType": "builtins.range",
    "UnboundMethodType": "types.FunctionType",
}

_PYTHON2_MODULES = {
    "cPickle": "pickle",
    "StringIO": f"{_MODULES}.string_io",
    "cStringIO": f"{_MODULES}.string_io",
    "Queue": "queue",
    "ConfigParser": "configparser",
    "urllib2": f"{_MODULES}.urllib2",
    "urlparse": "urllib.parse",
    "HTMLParser": "html.parser",
    "htmlentitydefs": "html.entities",
    "httplib": "http.client",
    "Cookie": "http.cookies",
    "cookielib": "http.cookiejar",
    "BaseHTTPServer": "http.server",
    "SimpleHTTPServer": "http.server",
    "CGIHTTPServer": "http.server",
    "SocketServer": "socketserver",
    "xmlrpclib": "xmlrpc.client",
    "SimpleXMLRPCServer": "xmlrpc.server",
    "Tkinter": "tkinter",
    "tkMessageBox": "tkinter.messagebox",
    "tkFileDialog": "tkinter.filedialog",
    "ttk": "tkinter.ttk",
    "copy_reg": "copyreg",
    "__builtin__": "builtins",
    "exceptions": "builtins",
    "commands": f"{_MODULES}.commands",
    "thread": "_thread",
    "anydbm": "dbm",
    "dbhash": "dbm",
    "UserDict": f"{_MODULES}.user_types",
    "UserList": f"{_MODULES}.user_types",
    "UserString": f"{_MODULES}.user_types",
    "sets": f"{_MODULES}.sets",
    "md5": f"{_MODULES}.md5",
    "sha": f"{_MODULES}.sha",
    "new": f"{_MODULES}.new",
    "dircache": f"{_MODULES}.dircache",
    "repr": "reprlib",
}

_PYTHON2 = "weft.legacy.old.python2.runtime"
_BUILTINS = {
    "apply": f"{_PYTHON2}.apply",
    "basestring": f"{_PYTHON2}.basestring",
    "buffer": "builtins.memoryview",
    "cmp": f"{_PYTHON2}.cmp",
    "coerce": f"{_PYTHON2}.coerce",
    "execfile": f"{_PYTHON2}.execfile",
    "file": f"{_PYTHON2}.file",
    "intern": "sys.intern",
    "long": "builtins.int",
    "raw_input": "builtins.input",
    "reduce": "functools.reduce",
    "reload": "importlib.reload",
    "unichr": "builtins.chr",
    "unicode": f"{_PYTHON2}.unicode",
    "xrange": "builtins.range",
}

_FUNCTIONS = {
    "func_name": "__name__",
    "func_code": "__code__",
    "func_defaults": "__defaults__",
    "func_globals": "__globals__",
    "func_doc": "__doc__",
    "func_dict": "__dict__",
    "func_closure": "__closure__",
}

ROWS: list[tuple[str, str, str, dict[str, str]]] = [
    (
        "name",
        "gone since Python 3.10",
        "collections",
        {name: f"collections.abc.{name}" for name in sorted(collections.abc.__all__)},
    ),
    (
        "name",
        "gone since Python 3.11",
        "inspect",
        {
            "getargspec": f"{_OWN}.getargspec",
            "ArgSpec": f"{_OWN}.ArgSpec",
            "formatargspec": f"{_OWN}.formatargspec",
        },
    ),
    ("name", "gone since Python 3.8", "time", {"clock": "time.perf_counter"}),
    (
        "name",
        "gone since Python 3.8",
        "platform",
        {"linux_distribution": f"{_OWN}.linux_distribution", "dist": f"{_OWN}.linux_distribution"},
    ),
    (
        "name",
        "gone since Python 3.8",
        "cgi",
        {
            "escape": f"{_OWN}.escape",
            "parse_qs": "urllib.parse.parse_qs",
            "parse_qsl": "urllib.parse.parse_qsl",
        },
    ),
    ("name", "gone since Python 3.7", "os", {"errno": "errno"}),
    ("name", "gone since Python 3.9", "fractions", {"gcd": "math.gcd"}),
    (
        "name",
        "gone since Python 3.9",
        "base64",
        {"encodestring": "base64.encodebytes", "decodestring": "base64.decodebytes"},
    ),
    ("name", "gone since Python 3.9", "sys", {"getcheckinterval": "sys.getswitchinterval"}),
    (
        "method",
        "gone since Python 3.9",
        "threading.Thread",
        {"isAlive": "threading.Thread.is_alive"},
    ),
    (
        "method",
        "gone since Python 3.9",
        "array.array",
        {"tostring": "array.array.tobytes", "fromstring": "array.array.frombytes"},
    ),
    (
        "method",
        "gone since Python 3.9",
        "xml.etree.ElementTree.Element",
        {"getchildren": "builtins.list", "getiterator": "xml.etree.ElementTree.Element.iter"},
    ),
    ("method", "gone since Python 3.9", "html.parser.HTMLParser", {"unescape": f"{_OWN}.unescape"}),
    (
        "module",
        "gone since Python 3.9",
        "",
        {
            "xml.etree.cElementTree": "xml.etree.ElementTree",
            "dummy_threading": "threading",
            "_dummy_threading": "threading",
            "dummy_thread": "_thread",
        },
    ),
    (
        "name",
        "gone since Python 3.12",
        "configparser",
        {"SafeConfigParser": "configparser.ConfigParser"},
    ),
    (
        "method",
        "gone since Python 3.12",
        "configparser.RawConfigParser",
        {"readfp": "configparser.RawConfigParser.read_file"},
    ),
    ("name", "gone since Python 3.12", "locale", {"format": "locale.format_string"}),
    ("name", "gone since Python 3.12", "ssl", {"wrap_socket": f"{_OWN}.wrap_socket"}),
    (
        "name",
        "gone since Python 3.12",
        "pkgutil",
        {"ImpImporter": "pkgutil.zipimporter", "ImpLoader": "pkgutil.zipimporter"},
    ),
    (
        "method",
        "gone since Python 3.12",
        "unittest.case.TestCase",
        {old: f"unittest.TestCase.{new}" for old, new in _ASSERTIONS.items()},
    ),
    (
        "method",
        PYTHON_3,
        "unittest.case.TestCase",
        {
            "assertItemsEqual": "unittest.TestCase.assertCountEqual",
            "assertDictContainsSubset": f"{_OWN}.assert_dict_contains_subset",
        },
    ),
    (
        "name",
        "gone since Python 3.13",
        "unittest",
        {
            "makeSuite": f"{_OWN}.make_suite",
            "findTestCases": f"{_OWN}.find_test_cases",
            "_TextTestResult": "unittest.TextTestResult",
        },
    ),
    (
        "module",
        "gone since Python 3.12",
        "",
        {
            "imp": f"{_MODULES}.imp",
            "distutils": "",
            "distutils.version": f"{_MODULES}.distutils_version",
            "distutils.util": f"{_MODULES}.distutils_util",
            "distutils.spawn": f"{_MODULES}.distutils_util",
            "distutils.dir_util": f"{_MODULES}.distutils_util",
            "distutils.file_util": f"{_MODULES}.distutils_util",
            "distutils.core": "setuptools",
            "distutils.sysconfig": "sysconfig",
            "distutils.log": f"{_MODULES}.distutils_log",
            "asyncore": "pip install pyasyncore",
            "asynchat": "pip install pyasynchat",
            "smtpd": "pip install aiosmtpd",
        },
    ),
    (
        "module",
        "gone since Python 3.13",
        "",
        {"cgi": f"{_MODULES}.cgi", "pipes": f"{_MODULES}.pipes", "imghdr": f"{_MODULES}.imghdr"},
    ),
    (
        "module",
        "gone since setuptools 82",
        "",
        {"pkg_resources": f"{_MODULES}.pkg_resources"},
    ),
    ("module", PYTHON_3, "", _PYTHON2_MODULES),
    ("name", PYTHON_3, "builtins", _BUILTINS),
    ("name", PYTHON_3, "urllib", _URLLIB),
    ("name", PYTHON_3, "string", _STRING),
    ("name", PYTHON_3, "types", _TYPES),
    (
        "name",
        PYTHON_3,
        "itertools",
        {
            "izip": "builtins.zip",
            "imap": "builtins.map",
            "ifilter": "builtins.filter",
            "ifilterfalse": "itertools.filterfalse",
            "izip_longest": "itertools.zip_longest",
        },
    ),
    ("name", PYTHON_3, "sys", {"maxint": "sys.maxsize", "setdefaultencoding": f"{_OWN}.nothing"}),
    (
        "name",
        PYTHON_3,
        "os",
        {"getcwdu": "os.getcwd"},
    ),
    ("name", PYTHON_3, "os.path", {"walk": f"{_OWN}.walk"}),
    ("name", PYTHON_3, "posixpath", {"walk": f"{_OWN}.walk"}),
    (
        "name",
        PYTHON_3,
        "operator",
        {
            "div": "operator.floordiv",
            "isCallable": "builtins.callable",
            "sequenceIncludes": "operator.contains",
            "isSequenceType": f"{_OWN}.is_sequence",
            "isMappingType": f"{_OWN}.is_mapping",
            "isNumberType": f"{_OWN}.is_number",
        },
    ),
    (
        "method",
        PYTHON_3,
        "builtins.dict",
        {
            "has_key": "builtins.dict.__contains__",
            "iteritems": f"{_OWN}.iterate_items",
            "iterkeys": f"{_OWN}.iterate_keys",
            "itervalues": f"{_OWN}.iterate_values",
            "viewitems": "builtins.dict.items",
            "viewkeys": "builtins.dict.keys",
            "viewvalues": "builtins.dict.values",
        },
    ),
    (
        "method",
        PYTHON_3,
        "collections.abc.Mapping",
        {"has_key": "collections.abc.Mapping.__contains__"},
    ),
    (
        "method",
        PYTHON_3,
        "urllib.request.Request",
        {name: f"{_OWN}.request_{name}" for name in ("get_host", "get_type", "get_data")},
    ),
    ("method", PYTHON_3, "builtins.list", {"__getslice__": f"{_OWN}.get_slice"}),
    ("method", PYTHON_3, "collections.abc.Iterator", {"next": "builtins.next"}),
    ("method", PYTHON_3, "builtins.str", {"decode": f"{_OWN}.decode"}),
    ("property", PYTHON_3, "builtins.BaseException", {"message": f"{_OWN}.message"}),
    (
        "property",
        PYTHON_3,
        "types.FunctionType",
        {old: f"{_OWN}.{old}" for old in _FUNCTIONS} | {"im_func": f"{_OWN}.plain_function"},
    ),
    (
        "property",
        PYTHON_3,
        "types.MethodType",
        {name: f"{_OWN}.{name}" for name in ("im_func", "im_self", "im_class")},
    ),
    (
        "changed",
        STRICTER,
        "pickle",
        {name: f"{_OWN}.{name}" for name in ("load", "loads", "dump")},
    ),
    (
        "changed",
        STRICTER,
        "hashlib",
        {
            name: f"{_OWN}.{name}"
            for name in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")
        },
    ),
    ("changed", "other results since Python 3.7", "re", {"split": f"{_OWN}.split"}),
    ("changed", "stricter since Python 3.11", "random", {"sample": f"{_OWN}.sample"}),
    ("changed", "stricter since Python 3.12", "random", {"randint": f"{_OWN}.randint"}),
    ("changed", "stricter since Python 3.11", "random", {"shuffle": f"{_OWN}.shuffle"}),
    ("changed", "gone since Python 3.9", "json", {"loads": f"{_OWN}.json_loads"}),
    (
        "changed",
        "the table of old modules",
        "importlib",
        {"import_module": "weft.legacy.old.lookup.import_module"},
    ),
]
