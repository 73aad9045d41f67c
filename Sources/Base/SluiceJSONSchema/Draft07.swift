import SluiceJSON

/// The JSON Schema that describes draft-07 schemas. A `$ref` may name it, and every schema is checked with it.
enum Draft07 {
  static let uri = "http://json-schema.org/draft-07/schema"

  static let rules = Result { () throws(JSONError) in
    try SchemaCompiler.rules(of: JSONValue(parsing: text), [:], nil)
  }

  /// The text of this schema. Keywords that do not restrict a value, such as `title`, are left out.
  static let text = #"""
    {
      "$id": "http://json-schema.org/draft-07/schema#",
      "definitions": {
        "schemaArray": {"type": "array", "minItems": 1, "items": {"$ref": "#"}},
        "nonNegativeInteger": {"type": "integer", "minimum": 0},
        "nonNegativeIntegerDefault0": {"$ref": "#/definitions/nonNegativeInteger"},
        "simpleTypes": {"enum": ["array", "boolean", "integer", "null", "number", "object", "string"]},
        "stringArray": {"type": "array", "items": {"type": "string"}, "uniqueItems": true}
      },
      "type": ["object", "boolean"],
      "properties": {
        "$id": {"type": "string"}, "$schema": {"type": "string"}, "$ref": {"type": "string"},
        "$comment": {"type": "string"}, "title": {"type": "string"}, "description": {"type": "string"},
        "pattern": {"type": "string"}, "format": {"type": "string"}, "contentMediaType": {"type": "string"},
        "contentEncoding": {"type": "string"},
        "default": true, "const": true,
        "readOnly": {"type": "boolean"}, "writeOnly": {"type": "boolean"}, "uniqueItems": {"type": "boolean"},
        "examples": {"type": "array", "items": true}, "enum": {"type": "array", "items": true},
        "multipleOf": {"type": "number", "exclusiveMinimum": 0},
        "maximum": {"type": "number"}, "exclusiveMaximum": {"type": "number"}, "minimum": {"type": "number"},
        "exclusiveMinimum": {"type": "number"},
        "maxLength": {"$ref": "#/definitions/nonNegativeInteger"},
        "maxItems": {"$ref": "#/definitions/nonNegativeInteger"},
        "maxProperties": {"$ref": "#/definitions/nonNegativeInteger"},
        "minLength": {"$ref": "#/definitions/nonNegativeIntegerDefault0"},
        "minItems": {"$ref": "#/definitions/nonNegativeIntegerDefault0"},
        "minProperties": {"$ref": "#/definitions/nonNegativeIntegerDefault0"},
        "additionalItems": {"$ref": "#"}, "contains": {"$ref": "#"}, "additionalProperties": {"$ref": "#"},
        "propertyNames": {"$ref": "#"}, "if": {"$ref": "#"}, "then": {"$ref": "#"}, "else": {"$ref": "#"},
        "not": {"$ref": "#"},
        "items": {"anyOf": [{"$ref": "#"}, {"$ref": "#/definitions/schemaArray"}]},
        "required": {"$ref": "#/definitions/stringArray"},
        "definitions": {"type": "object", "additionalProperties": {"$ref": "#"}},
        "properties": {"type": "object", "additionalProperties": {"$ref": "#"}},
        "patternProperties": {"type": "object", "additionalProperties": {"$ref": "#"}},
        "allOf": {"$ref": "#/definitions/schemaArray"}, "anyOf": {"$ref": "#/definitions/schemaArray"},
        "oneOf": {"$ref": "#/definitions/schemaArray"},
        "dependencies": {
          "type": "object",
          "additionalProperties": {"anyOf": [{"$ref": "#"}, {"$ref": "#/definitions/stringArray"}]}
        },
        "type": {
          "anyOf": [
            {"$ref": "#/definitions/simpleTypes"},
            {"type": "array", "items": {"$ref": "#/definitions/simpleTypes"}, "minItems": 1, "uniqueItems": true}
          ]
        }
      }
    }
    """#
}
